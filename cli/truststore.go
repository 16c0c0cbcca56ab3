package cli

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"

	"handrail/cli/process"
	"handrail/cli/settings"
)

// Beside the list of trusted directories stands the manifest that has the digest of its line;
// a line without one is from a handrail that looked at fewer files.

// trusted reads the list of trusted directories.
func trusted(p *process.Program) (map[string]string, error) {
	return settings.Trusted(p, settings.TrustedDirs)
}

func saveTrusted(p *process.Program, list map[string]string) error {
	return settings.SaveTrusted(p, settings.TrustedDirs, list)
}

func manifestFile(p *process.Program, dir string) (string, error) {
	sum := sha256.Sum256([]byte(dir))
	return settings.TrustFile(p, "manifests", hex.EncodeToString(sum[:])+".json")
}

// maxManifest bounds what is read of a manifest.
const maxManifest = 64 << 20

// manifestOf reads what a directory was when it was trusted by a digest.
func manifestOf(p *process.Program, dir, digest string) (manifest, error) {
	var m manifest
	path, err := manifestFile(p, dir)
	if err != nil {
		return m, err
	}
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return m, errors.New("it was trusted by an older handrail, which looked at fewer files")
	}
	if err != nil {
		return m, err
	}
	defer f.Close()
	raw, err := io.ReadAll(io.LimitReader(f, maxManifest))
	if err != nil {
		return m, err
	}
	if sum := sha256.Sum256(raw); hex.EncodeToString(sum[:]) != digest || json.Unmarshal(raw, &m) != nil {
		return manifest{}, errors.New("its list of files is not the one that was trusted")
	}
	return m, nil
}

func saveManifest(p *process.Program, dir string, raw []byte) error {
	path, err := manifestFile(p, dir)
	if err != nil {
		return err
	}
	return process.SwapIn(path, string(raw))
}
