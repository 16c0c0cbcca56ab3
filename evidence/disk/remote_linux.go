package disk

import "golang.org/x/sys/unix"

// Remote names the file system of path where its locks may not reach other hosts or its syncs may not reach a disk;
// "" means that nothing is known against it.
func Remote(path string) string {
	var st unix.Statfs_t
	if unix.Statfs(path, &st) != nil {
		return ""
	}
	return remoteKind(uint32(st.Type)) // its width differs by architecture, the number has 32 bits
}

func remoteKind(magic uint32) string {
	switch magic {
	case unix.NFS_SUPER_MAGIC:
		return "nfs"
	case unix.SMB_SUPER_MAGIC, unix.CIFS_SUPER_MAGIC, unix.SMB2_SUPER_MAGIC:
		return "smb"
	case unix.FUSE_SUPER_MAGIC:
		return "fuse"
	case unix.V9FS_MAGIC:
		return "9p"
	case unix.AFS_SUPER_MAGIC, unix.AFS_FS_MAGIC:
		return "afs"
	case unix.CODA_SUPER_MAGIC:
		return "coda"
	case unix.NCP_SUPER_MAGIC:
		return "ncp"
	case unix.CEPH_SUPER_MAGIC:
		return "ceph"
	case 0x0bd00bd0:
		return "lustre"
	case 0x786f4256:
		return "vboxsf"
	}
	return ""
}
