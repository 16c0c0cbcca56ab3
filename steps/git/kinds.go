package git

import (
	"handrail/steps"
)

func lastFacts() []steps.Field {
	return []steps.Field{
		{Name: "head", Type: steps.Ident, Doc: "commit that the history was followed from"},
		{Name: "commit", Type: steps.Ident, Doc: "newest commit that changed the path; a merge counts as one"},
		{Name: "before", Type: steps.Ident, Doc: "the commit before it, where the path is as it was"},
		{Name: "time", Type: steps.Time, Doc: "when it was committed"},
		{Name: "author", Type: steps.String, Doc: "its author"},
		{Name: "subject", Type: steps.String, Doc: "first line of its message"},
		{Name: "there", Type: steps.Bool, Doc: "whether the path is there now"},
		{Name: "since", Type: steps.Int, Doc: "commits after it that left the path as it is"},
	}
}

func baseFacts() []steps.Field {
	return []steps.Field{
		{Name: "base_commit", Type: steps.Ident, Doc: "commit of the base"},
		{Name: "head_commit", Type: steps.Ident, Doc: "commit of the head"},
		{Name: "merge_base", Type: steps.Ident, Doc: "the commit that both have; unknown where there is more than one, or none"},
		{Name: "ahead", Type: steps.Int, Doc: "commits that the head has and the base has not"},
		{Name: "behind", Type: steps.Int, Doc: "commits that the base has and the head has not"},
		{Name: "base_moved", Type: steps.Bool, Doc: "whether the base has commits that the head does not stand on"},
		{Name: "merged", Type: steps.Bool, Doc: "whether the base has the head"},
	}
}

// Kinds returns the step kinds of this package.
func Kinds() []steps.Kind {
	dir := steps.Field{Name: "dir", Type: steps.Path, Default: ".", Doc: "directory in the clone"}
	return []steps.Kind{
		{
			Name:  "git/last",
			Class: steps.Probe,
			Doc:   "Finds the newest commit in a clone that changed a path, and the commit before it.",
			Params: []steps.Field{
				dir,
				{Name: "path", Type: steps.String, Default: ".", Doc: "file or directory, from the top of the clone"},
				{Name: "at", Type: steps.String, Default: "HEAD", Doc: "commit, branch or tag to look back from"},
			},
			Facts:   lastFacts(),
			Touches: []string{"reads the objects of the clone"},
			Reads:   func(e steps.Env) steps.Prober { return lastProbe{e} },
		},
		{
			Name:  "git/base",
			Class: steps.Probe,
			Doc:   "Compares two commits of a clone: their merge base, what each has that the other has not, and whether one was merged.",
			Params: []steps.Field{
				dir,
				{Name: "base", Type: steps.String, Required: true, Doc: "commit, branch or tag that is merged into"},
				{Name: "head", Type: steps.String, Default: "HEAD", Doc: "commit, branch or tag that is merged"},
			},
			Facts:   baseFacts(),
			Touches: []string{"reads the objects of the clone"},
			Reads:   func(e steps.Env) steps.Prober { return baseProbe{e} },
		},
	}
}
