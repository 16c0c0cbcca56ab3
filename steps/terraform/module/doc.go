// Package module reads a root module as it stands on disk: its directory, the
// backend and the workspace in effect, the wrappers around it, the marker of a
// pause.
//
// It runs nothing, asks no server and creates nothing; it opens regular files alone
// and reads what is small by nature up to a bound (MaxSmall), since anyone may have
// put a pipe or a large file there.
//
// The rules are those of the tools. The backend is what init saved in
// .terraform/terraform.tfstate (TF_DATA_DIR moves it), never what the configuration
// says, since -backend-config adds to that; a directory that no init has touched is
// taken for local only where its state is plainly local. The workspace is
// TF_WORKSPACE, else the environment file, else "default", and a name that could
// lead out of a path is refused. Which tool a directory belongs to is read from what
// that tool left in it, and is unknown where both did.
//
// A pause is the file .handrail-pause.json. Whatever has that name stands, readable
// or not; it ends when it is removed, not when its time is over.
package module
