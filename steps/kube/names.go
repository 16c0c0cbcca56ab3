package kube

import (
	"regexp"
	"strings"

	"handrail/steps"

	"k8s.io/apimachinery/pkg/api/validate/content"
)

// The grammars of what names an object: what reaches a path or an argv, or is
// held against what an API server said. None of them lets a token of the redactor
// through.
const (
	resourceName  = `[A-Za-z0-9][A-Za-z0-9.-]*`
	objectName    = `[A-Za-z0-9][A-Za-z0-9._:@-]*`
	namespaceName = `[a-z0-9]([a-z0-9-]*[a-z0-9])?`
	keeperName    = `[a-z]+(\.[a-z0-9.-]+)?/[a-z0-9][a-z0-9.-]*(/[a-z0-9][a-z0-9.-]*)?`
	finalizerName = `[A-Za-z0-9][A-Za-z0-9._/-]*`
	selectorText  = `[A-Za-z0-9][A-Za-z0-9._/=!, ()-]*`
	uidText       = `[A-Za-z0-9][A-Za-z0-9._:-]{0,127}`
	versionText   = `[A-Za-z0-9]{1,64}`
)

// objectFields are the parameters of a step that is about one object, and more
// after them.
func objectFields(more ...steps.Field) []steps.Field {
	return append([]steps.Field{
		{Name: "resource", Type: steps.String, Required: true, Pattern: resourceName, Doc: "resource as kubectl takes it: job, jobs.batch or jobs.v1.batch"},
		{Name: "name", Type: steps.String, Required: true, Pattern: objectName, Doc: "name of the one object"},
		{Name: "namespace", Type: steps.String, Pattern: namespaceName, Doc: "namespace, instead of that of the context"},
	}, more...)
}

// matches reports whether the whole of text is of one of these grammars.
func matches(grammar, text string) bool {
	ok, err := regexp.MatchString("^(?:"+grammar+")$", text)
	return err == nil && ok
}

// plain reports whether outside text can be one segment of a path.
func plain(s string) bool {
	return s != "" && len(s) <= 253 && len(content.IsPathSegmentName(s)) == 0 && !strings.ContainsAny(s, " ?#\\\x00\r\n\t")
}
