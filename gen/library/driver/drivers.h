/* The drivers of a program. */

/* The operations of a driver. A program with one driver calls them directly. */
static const ipt__driver *ipt__driver_of(ipt__driver_id driver)
{
#ifdef IPT_CUDA
    if (driver == IPT__DRIVER_CUDA)
        return &ipt__cuda;
#endif
#if defined(IPT_NO_OPENCL)
    (void)driver;
    return &ipt__native;
#elif defined(IPT_NATIVE)
    return driver == IPT__DRIVER_NATIVE ? &ipt__native : &ipt__opencl;
#else
    (void)driver;
    return &ipt__opencl;
#endif
}
