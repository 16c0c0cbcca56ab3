// Package alike finds what could be taken for an object: a sibling of its name
// without what was generated, the same name in other namespaces, in other API
// groups and among kinds that do the same work. Each comes with what tells the two
// apart, and where the search had to stop short it says so.
//
// It also says whether the object is an orphan, which is unmanaged: only where
// every owner was looked for and none was found, and no mark names one.
package alike
