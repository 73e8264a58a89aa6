/* SPDX-License-Identifier: Apache-2.0
 *
 * For ports of chips in this tree that Linux drives: start from a working table, and override. */
#ifndef HALYARD_PORTS_LINUX_LINUX_H_
#define HALYARD_PORTS_LINUX_LINUX_H_

#include "halyard/hal.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The table of the Linux port: copy it, replace verbs, and give the copy out as your own. Its verbs
 * take the handles that its own open and alloc made. `services` are those that the entry was given;
 * the first call decides. Static storage. Threads: any. */
const hy_hal_api* hy_linux_api(const hy_host_services* services);

#ifdef __cplusplus
}
#endif

#endif /* HALYARD_PORTS_LINUX_LINUX_H_ */
