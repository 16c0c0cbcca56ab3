package cluster

import (
	"regexp"
	"strings"

	"k8s.io/apimachinery/pkg/api/validate/content"

	"handrail/steps"
)

// The grammars of what names an object: what reaches a path or an argv, or is
// held against what an API server said. None of them lets a token of the redactor
// through.
const (
	ResourceName  = `[A-Za-z0-9][A-Za-z0-9.-]*`
	ObjectName    = `[A-Za-z0-9][A-Za-z0-9._:@-]*`
	NamespaceName = `[a-z0-9]([a-z0-9-]*[a-z0-9])?`
	KeeperName    = `[a-z]+(\.[a-z0-9.-]+)?/[a-z0-9][a-z0-9.-]*(/[a-z0-9][a-z0-9.-]*)?`
	FinalizerName = `[A-Za-z0-9][A-Za-z0-9._/-]*`
	SelectorText  = `[A-Za-z0-9][A-Za-z0-9._/=!, ()-]*`
	UIDText       = `[A-Za-z0-9][A-Za-z0-9._:-]{0,127}`
	VersionText   = `[A-Za-z0-9]{1,64}`
)

// ObjectParams are the parameters of a step that is about one object, and more
// after them.
func ObjectParams(more ...steps.Field) []steps.Field {
	return append([]steps.Field{
		{Name: "resource", Type: steps.String, Required: true, Pattern: ResourceName, Doc: "resource as kubectl takes it: job, jobs.batch or jobs.v1.batch"},
		{Name: "name", Type: steps.String, Required: true, Pattern: ObjectName, Doc: "name of the one object"},
		{Name: "namespace", Type: steps.String, Pattern: NamespaceName, Doc: "namespace, instead of that of the context"},
	}, more...)
}

// Matches reports whether the whole of text is of one of these grammars.
func Matches(grammar, text string) bool {
	ok, err := regexp.MatchString("^(?:"+grammar+")$", text)
	return err == nil && ok
}

// Plain reports whether outside text can be one segment of a path.
func Plain(s string) bool {
	return s != "" && len(s) <= 253 && len(content.IsPathSegmentName(s)) == 0 && !strings.ContainsAny(s, " ?#\\\x00\r\n\t")
}
