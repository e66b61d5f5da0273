/* SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The ipt authors. The text of the licence is at the end of this file. */
#ifndef IPT_H_INCLUDED
#define IPT_H_INCLUDED

#include "interface/manual.h"
#include "interface/opencl_names.h"
#include "interface/names.h"
#include "interface/core.h"
#include "interface/host.h"
#include "interface/programs.h"
#include "interface/papers.h"
#include "interface/batch.h"
#include "interface/cuda.h"
#include "interface/mpi.h"

#if defined(__GNUC__) || defined(__clang__)
#pragma GCC diagnostic pop
#endif

#endif /* IPT_H_INCLUDED */

/* >>implementation: a part calls only the parts above it. */
#if defined(IPT_IMPLEMENTATION) && !defined(IPT_IMPLEMENTATION_INCLUDED)
#define IPT_IMPLEMENTATION_INCLUDED

#include "base/platform.h"
#include "base/error.h"
#include "base/paths.h"
#include "base/arithmetic.h"
#include "base/libraries.h"
#include "papers/heuristics.h"
#include "program/types.h"
#include "program/kernels.h"
#ifndef IPT_NO_BATCH
#include "batch/ready.h"
#endif
#include "driver/operations.h"
#include "driver/driver.h"
#include "driver/opencl.h"
#include "driver/pool.h"
#include "driver/native_c.h"
#include "driver/native_kernels.h"
#include "driver/native_actions.h"
#include "driver/native_objects.h"
#include "driver/native_device.h"
#include "driver/native.h"
#include "driver/cuda_api.h"
#include "driver/cuda_device.h"
#include "driver/cuda_objects.h"
#include "driver/cuda_program.h"
#include "driver/cuda_commands.h"
#include "driver/drivers.h"
#include "program/entry.h"
#include "device/speed.h"
#include "device/device.h"
#include "device/context.h"
#include "program/files.h"
#include "program/cache.h"
#include "program/profile.h"
#include "device/create.h"
#include "program/arguments.h"
#include "program/program.h"
#include "program/offline.h"
#include "program/probe.h"
#include "program/profile_write.h"
#include "plan/problem.h"
#include "plan/stage.h"
#include "plan/launch.h"
#include "host/host_plan.h"
#include "plans/plan.h"
#include "stages/common.h"
#include "stages/tile.h"
#include "stages/swap.h"
#include "stages/flip.h"
#include "stages/map.h"
#include "stages/wave.h"
#include "stages/rows.h"
#include "stages/panel.h"
#include "stages/shuffle.h"
#include "stages/exchange.h"
#include "stages/box.h"
#include "stages/thin.h"
#include "stages/cycles.h"
#include "stages/view.h"
#include "stages/list.h"
#include "axes/costs.h"
#include "plan/layout.h"
#include "methods/method.h"
#include "papers/sequences.h"
#include "methods/straight.h"
#include "methods/thin_matrix.h"
#include "methods/whole.h"
#include "methods/on_chip.h"
#include "methods/bands.h"
#include "methods/two_pass.h"
#include "methods/boxes.h"
#include "methods/views.h"
#include "methods/method_list.h"
#include "plan/choose.h"
#include "plan/out_of_place.h"
#include "plan/workspace.h"
#include "plan/describe.h"
#include "plan/check.h"
#include "plan/open.h"
#include "execute/record.h"
#include "execute/run.h"
#include "execute/execute.h"
#include "choice/wisdom.h"
#include "choice/measure.h"
#include "plans/plan_end.h"
#include "plans/device_plan.h"
#include "plans/parts_plan.h"
#include "host/transfer.h"
#ifndef IPT_NO_HOST_STREAMING
#include "host/parts.h"
#endif
#include "host/part_plans.h"
#ifndef IPT_NO_HOST_STREAMING
#include "host/cut.h"
#include "host/host_shuffle.h"
#include "host/blocks.h"
#include "host/bus_bands.h"
#include "host/cut_device.h"
#include "plans/cut_plan.h"
#endif
#include "host/host_execute.h"
#ifndef IPT_NO_HOST_STREAMING
#include "plans/split_plan.h"
#endif
#ifndef IPT_NO_STORAGE
#include "host/steps.h"
#include "host/storage.h"
#endif
#include "axes/search.h"
#include "axes/one_pass.h"
#include "axes/ways.h"
#include "plans/passes.h"
#include "plans/array_plan.h"
#include "plans/view_plan.h"
#include "host/host_async.h"
#ifndef IPT_NO_BATCH
#include "batch/model.h"
#include "batch/cost.h"
#include "batch/text.h"
#include "batch/batch_make.h"
#include "batch/batch_wisdom.h"
#include "batch/batch_execute.h"
#include "batch/batch_create.h"
#include "batch/batch_host.h"
#endif
#include "execute/cuda_execute.h"
#include "api.h"
#ifdef IPT_MPI
#include "mpi/shape.h"
#include "mpi/agree.h"
#include "mpi/mpi_plan.h"
#include "mpi/mpi_exchange.h"
#include "mpi/square.h"
#include "mpi/mpi_execute.h"
#endif

#if defined(__GNUC__) || defined(__clang__)
#pragma GCC diagnostic pop
#endif

#endif /* IPT_IMPLEMENTATION */

/*
 * Copyright (c) 2026 The ipt authors
 *
 * Permission is hereby granted, free of charge, to any person obtaining a copy
 * of this software and associated documentation files (the "Software"), to deal
 * in the Software without restriction, including without limitation the rights
 * to use, copy, modify, merge, publish, distribute, sublicense, and/or sell
 * copies of the Software, and to permit persons to whom the Software is
 * furnished to do so, subject to the following conditions:
 *
 * The above copyright notice and this permission notice shall be included in all
 * copies or substantial portions of the Software.
 *
 * THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR
 * IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY,
 * FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE
 * AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER
 * LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM,
 * OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE
 * SOFTWARE.
 */
