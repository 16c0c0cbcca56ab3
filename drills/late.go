package drills

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"

	"handrail/drills/stage"
	"handrail/steps"
)

// approval reads an export that is known late: who approves a plan says the first
// twelve characters of its digest, once it was made. The file is hashed here; what
// the incident says of it has no say.
func (p parser) approval(step string) source {
	return source{typ: steps.String, late: true, read: func(ctx context.Context, st *stage.Stage) (steps.Value, error) {
		file, err := st.Fact(step, "file")
		if err != nil {
			return steps.Value{}, err
		}
		v, err := digestOf(file)
		return v, errors.Join(err, ctx.Err())
	}}
}

// hashes is an export that names a file of the module by its digest, as a phrase
// does.
func hashes(file string) source {
	return source{typ: steps.String, read: func(_ context.Context, st *stage.Stage) (steps.Value, error) {
		return digestOf(filepath.Join(st.Rec.Dir, file))
	}}
}

// counts is what the phrase of a batch says of its objects: how many they are, and the digest of
// the list.
func counts(objects string) source {
	return source{typ: steps.String, read: func(_ context.Context, st *stage.Stage) (steps.Value, error) {
		all := strings.Fields(strings.ReplaceAll(objects, "${drill.namespace}", st.Rec.Namespace.Name))
		_, said, _ := strings.Cut(steps.BatchPhrase("act", all), " ")
		return steps.StringOf(said), nil
	}}
}

// digestOf is the first twelve characters of the SHA-256 of a file.
func digestOf(name string) (steps.Value, error) {
	f, err := os.Open(name)
	if err != nil {
		return steps.Value{}, err
	}
	defer f.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return steps.Value{}, err
	}
	return steps.StringOf(hex.EncodeToString(sum.Sum(nil))[:12]), nil
}

// heads is what people say of the newest commit of a repository of the drill: its first eight
// characters. It is read when it is asked for.
func heads(repository string) source {
	return source{typ: steps.String, late: true, read: func(_ context.Context, st *stage.Stage) (steps.Value, error) {
		raw, err := os.ReadFile(filepath.Join(st.GitDir(), repository, ".git", "refs", "heads", "main"))
		if err != nil {
			return steps.Value{}, err
		}
		return steps.StringOf(steps.Clip(strings.TrimSpace(string(raw)), 40)[:8]), nil
	}}
}

// Late is what walk.Script asks for a value of the drill that is known only by
// and by, "" with no error for one that the drill does not have.
func (r *Running) Late(ctx context.Context, name string) (string, error) {
	name, _ = strings.CutPrefix(name, "drill.")
	for _, e := range r.scene.export {
		if e.name != name || !e.late {
			continue
		}
		v, err := e.read(ctx, &r.stage)
		if err != nil {
			return "", err
		}
		return v.Text(), nil
	}
	return "", nil
}
