package tool

import (
	"slices"
	"strings"
	"testing"

	"handrail/steps"
)

// What a program gets as a secret it may print in any form; patterns find only
// what looks like one.
func TestChildSecretsAreThoseThatAreHandedOn(t *testing.T) {
	t.Parallel()
	env := steps.Env{Environ: []string{
		"TF_VAR_db_password=correct horse", "ARM_CLIENT_SECRET=battery-acid", "TF_TOKEN_app_terraform_io=staple-gun", "PGPASSWORD=hunter22", "DD_API_KEY=abcdef01",
		"TF_ENCRYPTION=passphrase here", "VAULT_TOKEN=", "TF_VAR_region=eu-central-1", "AWS_ACCESS_KEY_ID=AKIA",
		"AWS_WEB_IDENTITY_TOKEN_FILE=/run/token", "GOOGLE_APPLICATION_CREDENTIALS=/run/google.json", "SOME_PASSWORD=not handed on",
	}}
	want := []string{"correct horse", "battery-acid", "staple-gun", "hunter22", "abcdef01", "passphrase here"}
	if got := Secrets(env); !slices.Equal(got, want) {
		t.Fatalf("Secrets() = %q, want %q", got, want)
	}
}

// TestWithheldVariableIsNamed: an error that names a variable which is set and was not handed on
// says so; one that was handed on, or is not set, is not taken for the reason.
func TestWithheldVariableIsNamed(t *testing.T) {
	t.Parallel()
	env := steps.Env{Environ: []string{"RECORDS_API=http://x", "AWS_REGION=eu", "TF_VAR_a=b"}}
	for said, want := range map[string]bool{
		"Error: the provider needs RECORDS_API": true,
		"Error: set AWS_REGION":                 false,
		"Error: set RECORDS_TOKEN":              false,
		"Error: no such host":                   false,
		"":                                      false,
	} {
		got := FirstErrorOf(env, []byte(said))
		if strings.Contains(got, "RECORDS_API is set here, and handrail does not hand it on") != want || strings.Contains(got, "http://x") {
			t.Errorf("FirstErrorOf(%q) = %q", said, got)
		}
	}
}
