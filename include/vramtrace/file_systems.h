/* SPDX-License-Identifier: MIT */
/*
 * File systems that differ from a local disk. Used by the library, which writes logs, and by `run`, which keeps logs on
 * a local disk.
 */
#ifndef VRAMTRACE_FILE_SYSTEMS_H
#define VRAMTRACE_FILE_SYSTEMS_H

#include <stddef.h>

/* if its server hangs, so does every process that writes to it */
#define VT_FS_REMOTE 1u
#define VT_FS_UNSURE                                                                               \
    2u /* allocated space is not guaranteed, so a store to a mapped file may fail */

/* VT_FS_* flags for a file system, by statfs(2)'s f_type; 0: like a local disk. */
static inline unsigned vt_file_system(long type) {
    static const struct {
        unsigned number, is;
    } all[] = {
        {0x00006969, VT_FS_REMOTE | VT_FS_UNSURE}, /* NFS */
        {0x65735546, VT_FS_REMOTE | VT_FS_UNSURE}, /* FUSE */
        {0xff534d42, VT_FS_REMOTE | VT_FS_UNSURE}, /* CIFS */
        {0xfe534d42, VT_FS_REMOTE | VT_FS_UNSURE}, /* SMB2 */
        {0x0bd00bd0, VT_FS_REMOTE | VT_FS_UNSURE}, /* Lustre */
        {0x47504653, VT_FS_REMOTE | VT_FS_UNSURE}, /* GPFS */
        {0x01021997, VT_FS_REMOTE | VT_FS_UNSURE}, /* 9P */
        {0x00c36400, VT_FS_REMOTE},                /* Ceph */
        {0x5346414f, VT_FS_REMOTE},                /* AFS */
        {0x6b414653, VT_FS_REMOTE},                /* AFS, the kernel's */
        {0x19830326, VT_FS_REMOTE},                /* BeeGFS */
        {0x01161970, VT_FS_REMOTE},                /* GFS2 */
        {0x7461636f, VT_FS_REMOTE},                /* OCFS2 */
        {0x20030528, VT_FS_REMOTE},                /* OrangeFS */
        {0xaad7aaea, VT_FS_REMOTE},                /* PanFS */
        {0x9123683e, VT_FS_UNSURE},                /* btrfs */
        {0x2fc12fc1, VT_FS_UNSURE},                /* ZFS */
        {0xca451a4e, VT_FS_UNSURE},                /* bcachefs */
    };
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        if ((unsigned)type == all[i].number) /* f_type is signed on some systems */
            return all[i].is;
    return 0;
}

#endif
