package references

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
)

const (
	mostFile   = 64 << 20 // bytes of one file, and of what one holds
	mostNested = 3        // archives in archives
	mostInside = 20_000   // files of one archive
)

var errUnread = errors.New("it has more than is read")

// sealed are the beginnings of what holds text that is not seen here.
var sealed = []struct {
	begins, what string
}{
	{"BZh", "a bzip2 file"}, {"\xfd7zXZ\x00", "an xz file"}, {"\x28\xb5\x2f\xfd", "a zstd file"}, {"7z\xbc\xaf\x27\x1c", "a 7z file"}, {"Rar!\x1a\x07", "a RAR file"},
	{"\x00GITCRYPT\x00", "encrypted by git-crypt"}, {"$ANSIBLE_VAULT;", "encrypted by ansible-vault"}, {"age-encryption.org/", "encrypted by age"},
	{"-----BEGIN AGE ENCRYPTED FILE-----", "encrypted by age"}, {"-----BEGIN PGP MESSAGE-----", "encrypted by PGP"},
	{"version https://git-lfs.github.com/spec/", "kept by Git LFS elsewhere"},
}

// content are the matches in a file, whatever it is packed in; unread says what of it could not be searched, "" for nothing.
func content(names []name, raw []byte, depth int) (found []match, unread string) {
	for _, s := range sealed {
		if bytes.HasPrefix(raw, []byte(s.begins)) {
			return nil, s.what
		}
	}
	switch {
	case bytes.HasPrefix(raw, []byte("PK\x03\x04")), bytes.HasPrefix(raw, []byte("\x1f\x8b")):
		if depth == mostNested {
			return nil, "an archive within archives"
		}
		if raw[0] == 'P' {
			return zipped(names, raw, depth+1)
		}
		inside, err := unpacked(raw)
		if err != nil {
			return nil, "a gzip file that cannot be read whole"
		}
		return content(names, inside, depth+1)
	}
	found = matches(names, raw)
	if bytes.Contains(raw, []byte("ENC[AES256_GCM,data:")) && bytes.Contains(raw, []byte("lastmodified")) { // SOPS writes both
		unread = "encrypted by SOPS"
	}
	return found, unread
}

func unpacked(raw []byte) ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(raw))
	if err != nil {
		return nil, err
	}
	return bounded(r)
}

func bounded(r io.Reader) ([]byte, error) {
	raw, err := io.ReadAll(io.LimitReader(r, mostFile+1))
	if err == nil && len(raw) > mostFile {
		err = errUnread
	}
	return raw, err
}

func zipped(names []name, raw []byte, depth int) (found []match, unread string) {
	const broken = "a ZIP file that cannot be read whole"
	r, err := zip.NewReader(bytes.NewReader(raw), int64(len(raw)))
	if err != nil || len(r.File) > mostInside {
		return matches(names, raw), broken
	}
	left := int64(mostFile)
	for _, f := range r.File {
		if f.Flags&1 != 0 {
			unread = "a ZIP file with a password"
			continue
		}
		in, err := f.Open()
		if err != nil {
			unread = broken
			continue
		}
		inside, err := io.ReadAll(io.LimitReader(in, left+1))
		_ = in.Close()
		if left -= int64(len(inside)); err != nil || left < 0 {
			return found, broken
		}
		also, why := content(names, inside, depth)
		for _, m := range also {
			found = append(found, match{0, m.name, m.host})
		}
		if why != "" {
			unread = why
		}
	}
	return found, unread
}
