package tool

import (
	"slices"
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
