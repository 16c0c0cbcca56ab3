package transport

import "testing"

// metadataForms are ways to write an address at which machines get credentials.
var metadataForms = []string{
	"169.254.169.254", "169.254.170.2", "2852039166", "0xA9FEA9FE", "0251.0376.0251.0376", "0xa9.254.43518", "169.254.43518", "169.16689662",
	"[fe80::1]", "[fd00:ec2::254]", "[::ffff:169.254.169.254]", "[::ffff:a9fe:a9fe]", "[64:ff9b::a9fe:a9fe]", "[2002:a9fe:a9fe::1]", "[::a9fe:a9fe]",
	"metadata.google.internal", "METADATA.google.internal.", "metadata", "instance-data", "100.100.100.200", "168.63.129.16",
}

// TestMetadataIsRefusedInEveryForm reads each way to write such an address.
func TestMetadataIsRefusedInEveryForm(t *testing.T) {
	t.Parallel()
	for _, form := range metadataForms {
		if RefuseMetadata(form) == nil {
			t.Errorf("%s is not refused", form)
		}
	}
	for _, fine := range []string{"10.0.0.1", "127.0.0.1", "2130706433", "localhost", "metadata.example.com", "169.253.1.1", "[::1]", "[2001:db8::1]", "[64:ff9b::a00:1]", "", "256.1.1.1", "0x", "1.2.3.4.5"} {
		if err := RefuseMetadata(fine); err != nil {
			t.Errorf("%s: %v", fine, err)
		}
	}
}

// TestNamesThatLeadToMetadataAreRefused: what counts is where a name leads when
// it is dialled.
func TestNamesThatLeadToMetadataAreRefused(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]bool{
		"169.254.169.254:80": true, "[fe80::1%lo]:80": true, "[fd00:ec2::254]:80": true, "127.0.0.1:1": false, "10.0.0.1:80": false, "[fd00::1]:443": false,
	} {
		if err := offMetadata("tcp", address, nil); (err != nil) != want {
			t.Errorf("dialling %s: %v, want a refusal: %t", address, err, want)
		}
	}
}
