/* SPDX-License-Identifier: MIT */
/*
 * Sizes as text, both ways. One table that the tracer (VRAMTRACE_LIMIT, VRAMTRACE_ALARM, its line
 * at exit) and the command (--limit, --alarm, its reports) are both held to.
 */
#ifndef VRAMTRACE_TESTS_UNIT_SIZES_H
#define VRAMTRACE_TESTS_UNIT_SIZES_H

#include <stdint.h>

/* Sizes to read. */
static const struct {
    const char *text;
    uint64_t bytes; /* 0: not a size above 0 */
    uint32_t share; /* in millionths; 0: not a share */
} size_rows[] = {
    {"1048576", 1048576, 0},
    {"512M", 512ull << 20, 0},
    {"512MiB", 512ull << 20, 0},
    {"512mb", 512ull << 20, 0},
    {"1.5G", 3ull << 29, 0},
    {"1.000000000931322575G", (1ull << 30) + 1, 0},
    {"0.1K", 102, 0},
    {"1.9", 1, 0},
    {"5.K", 5120, 0},
    {"24G", 24ull << 30, 0},
    {"7B", 7, 0},
    {"18446744073709551615", UINT64_MAX, 0},
    {"18446744073709551616", 0, 0},
    {"16777216T", 0, 0},
    {"15.9999999999999999999E", UINT64_MAX - 1, 0},
    {"0", 0, 0},
    {"0.0G", 0, 0},
    {"-1", 0, 0},
    {" 1", 0, 0},
    {"1 M", 0, 0},
    {"M", 0, 0},
    {".5G", 0, 0},
    {"1Mx", 0, 0},
    {"1Mi", 0, 0},
    {"1iB", 0, 0},
    {"0x10", 0, 0},
    {"1e9", 0, 0},
    {"inf", 0, 0},
    {"90%", 0, 900000},
    {"12.5%", 0, 125000},
    {"100%", 0, 1000000},
    {"100.0%", 0, 1000000},
    {"0.5%", 0, 5000},
    {"0.00000001%", 0, 1},
    {"0%", 0, 0},
    {"100.1%", 0, 0},
    {"101%", 0, 0},
    {"18446744073709551617%", 0, 0},
    {"-5%", 0, 0},
    {"nan%", 0, 0},
    {"9%%", 0, 0},
    {"9%x", 0, 0},
    {"%", 0, 0},
};

/* Sizes to write. */
static const struct {
    uint64_t bytes;
    const char *text;
} size_texts[] = {
    {0, "0 B"},
    {512, "512 B"},
    {1023, "1023 B"},
    {1024, "1.00 KiB"},
    {1536, "1.50 KiB"},
    {10234, "9.99 KiB"},   /* 9.994 */
    {10235, "10.0 KiB"},   /* 9.9951 */
    {102348, "99.9 KiB"},  /* 99.949 */
    {102349, "100 KiB"},   /* 99.950 */
    {103936, "102 KiB"},   /* 101.5: halves to even */
    {104960, "102 KiB"},   /* 102.5 */
    {12544, "12.2 KiB"},   /* 12.25 */
    {1048063, "1023 KiB"}, /* 1023.499 */
    {1048064, "1.00 MiB"}, /* 1023.5 */
    {1048571, "1.00 MiB"}, /* 1023.995 */
    {(1ull << 20) - 1, "1.00 MiB"},
    {5ull << 20, "5.00 MiB"},
    {(1ull << 30) - 1, "1.00 GiB"},
    {35218731827, "32.8 GiB"},
    {141ull << 30, "141 GiB"},
    {1ull << 40, "1.00 TiB"},
    {UINT64_MAX, "16.0 EiB"},
};

#endif
