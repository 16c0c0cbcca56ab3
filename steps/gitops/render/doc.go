// Package render makes the manifests that a commit holds, as Argo CD and Flux make them:
// plain directories of YAML, kustomizations by kustomize's own library, and charts by the engine of
// Helm. A chart is rendered twice, each time with other chance and another clock, so that what a
// commit says is told from what comes out otherwise each time ([Answer]).
//
// What a repository holds was written by others and is not trusted. [Gather] reads it from
// the objects of a clone, by steps/gitread, so that nothing of the clone runs. [Render]
// gives the files to a process of its own (steps/confined), which is handrail again ([Word]),
// and takes objects back. That process works on files in memory alone: plugins are off, no
// loader finds a real file, and each name of something remote is refused first.
//
// Input: a tar. Its first file is [Order] as JSON, named "order"; the files of the commit
// follow under "files/". Output: one [Answer] as JSON. Both are bounded, and so is the
// time.
//
// Not rendered, and said so by [NotHereError]: what of a chart would be fetched, Jsonnet,
// plugins, remote bases and files, what Git keeps elsewhere (submodules, LFS, links).
package render
