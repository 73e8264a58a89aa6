// SPDX-License-Identifier: Apache-2.0
//
// A library that a test plugin needs and that the dynamic linker will not find.
int test_library_answer(void);
int test_library_answer(void) { return 1; }
