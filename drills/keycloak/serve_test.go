package keycloak

import (
	"os"
	"path/filepath"
	"testing"
)

// TestServerEndsWithItsFolder: a drill whose files were removed by hand leaves no server behind.
func TestServerEndsWithItsFolder(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "keycloak")
	if _, err := Prepare(dir, "robot"); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- Serve(t.Context(), dir) }()
	for {
		if _, err := Address(dir); err == nil {
			break
		}
		select {
		case err := <-ended:
			t.Fatalf("it ended before it listened: %v", err)
		default:
		}
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err != nil {
		t.Errorf("Serve() = %v", err)
	}
}
