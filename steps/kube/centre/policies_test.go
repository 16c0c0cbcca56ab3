package centre

import "testing"

func TestDeniedBy(t *testing.T) {
	t.Parallel()
	for message, want := range map[string]string{
		`Error creating: pods "x" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: no`:                                                                        "validatingadmissionpolicy/p by b",
		"admission webhook \"validate.kyverno.svc-fail\" denied the request: \n\nresource Pod/a/b was blocked due to the following policies \n\nrequire-labels:\n  check-team: 'no team'": "kyverno policy require-labels",
		`admission webhook "validation.gatekeeper.sh" denied the request: [ns-must-have-owner] you must provide labels: {"owner"}`:                                                        "gatekeeper constraint ns-must-have-owner",
		`admission webhook "x.example.com" denied the request: [a] b`:                                                                                                                     "webhook x.example.com",
		`exceeded quota: rq`: "",
	} {
		if who, _, is := deniedBy(message); who != want || is != (want != "") {
			t.Errorf("%q: %q %v, want %q", message, who, is, want)
		}
	}
}
