package stage

import "path/filepath"

// NodeDir is the directory of the node of the drill.
func (st *Stage) NodeDir() string { return filepath.Join(st.Home, "node") }

// NodeName is that of the node of the drill, which is of this drill alone.
func (st *Stage) NodeName() string { return st.Rec.Namespace.Name + "-node" }

// The places of a unit in the file tree of the node.
func (st *Stage) RootDir() string { return filepath.Join(st.NodeDir(), "root") }
