# An overlay port of the tree that it lies in. A registry's port takes a release instead: vcpkg_from_github with its
# SHA512, or vcpkg_download_distfile and vcpkg_extract_source_archive with that of make dist's file.
get_filename_component(SOURCE_PATH "${CMAKE_CURRENT_LIST_DIR}/../../../.." ABSOLUTE)

# BUILD_SHARED_LIBS, which vcpkg sets, selects the library that is installed.
vcpkg_cmake_configure(SOURCE_PATH "${SOURCE_PATH}/gen/cmake" OPTIONS -DIPT_INSTALL=ON)
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(CONFIG_PATH lib/cmake/ipt)

file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/debug/include" "${CURRENT_PACKAGES_DIR}/debug/share")
file(INSTALL "${CMAKE_CURRENT_LIST_DIR}/usage" DESTINATION "${CURRENT_PACKAGES_DIR}/share/${PORT}")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")
