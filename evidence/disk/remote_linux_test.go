package disk

import "testing"

func TestRemoteKinds(t *testing.T) {
	t.Parallel()
	for magic, want := range map[uint32]string{
		0x6969: "nfs", 0xFF534D42: "smb", 0xFE534D42: "smb", 0x65735546: "fuse", 0x01021997: "9p", 0x00c36400: "ceph",
		0xEF53: "", 0x01021994: "", 0x58465342: "", 0x9123683E: "",
	} {
		if got := remoteKind(magic); got != want {
			t.Errorf("%#x is %q, want %q", magic, got, want)
		}
	}
}
