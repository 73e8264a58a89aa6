# SPDX-License-Identifier: Apache-2.0
# HALYARD_SOURCE_COMMIT and HALYARD_SOURCE_DIRTY ("yes", "no"): the sources as of when this build was
# configured; "unknown" outside of Git. Configuring follows each commit.
set(HALYARD_SOURCE_COMMIT unknown)
set(HALYARD_SOURCE_DIRTY unknown)
find_program(GIT_PROGRAM git)
if(GIT_PROGRAM)
  execute_process(COMMAND "${GIT_PROGRAM}" -C "${PROJECT_SOURCE_DIR}" rev-parse HEAD
                  OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET
                  RESULT_VARIABLE failed)
  if(NOT failed)
    set(HALYARD_SOURCE_COMMIT "${commit}")
    execute_process(COMMAND "${GIT_PROGRAM}" -C "${PROJECT_SOURCE_DIR}" status --porcelain -uno
                    OUTPUT_VARIABLE changes ERROR_QUIET)
    if(changes)
      set(HALYARD_SOURCE_DIRTY yes)
    else()
      set(HALYARD_SOURCE_DIRTY no)
    endif()
    execute_process(COMMAND "${GIT_PROGRAM}" -C "${PROJECT_SOURCE_DIR}" rev-parse --git-path logs/HEAD
                    OUTPUT_VARIABLE log OUTPUT_STRIP_TRAILING_WHITESPACE)
    get_filename_component(log "${log}" ABSOLUTE BASE_DIR "${PROJECT_SOURCE_DIR}")
    if(EXISTS "${log}")
      set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${log}")
    endif()
  endif()
endif()
