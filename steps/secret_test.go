package steps

import (
	"context"
	"fmt"
	"slices"
	"testing"
)

func TestSecretVariables(t *testing.T) {
	t.Parallel()
	secret := []string{
		"AWS_SECRET_ACCESS_KEY=value-of-1", "AWS_SESSION_TOKEN=value-of-2", "AWS_CONTAINER_AUTHORIZATION_TOKEN=value-of-3", "GOOGLE_OAUTH_ACCESS_TOKEN=value-of-4",
		"CLOUDSDK_AUTH_ACCESS_TOKEN=value-of-5", "GOOGLE_CREDENTIALS=value-of-6", "ARM_CLIENT_SECRET=value-of-7", "ARM_SAS_TOKEN=value-of-8", "ARM_ACCESS_KEY=value-of-9",
		"ARM_OIDC_TOKEN=value-of-10", "ARM_OIDC_REQUEST_TOKEN=value-of-11", "ARM_CLIENT_CERTIFICATE=value-of-12", "ARM_CLIENT_CERTIFICATE_PASSWORD=value-of-13",
		"AZURE_STORAGE_KEY=value-of-14", "AZURE_STORAGE_CONNECTION_STRING=value-of-15", "AZURE_CLIENT_SECRET=value-of-16", "DD_APP_KEY=value-of-17", "CONSUL_HTTP_AUTH=value-of-18",
		"MYSQL_PWD=value-of-19", "TF_VAR_db_pass=value-of-20", "TF_TOKEN_app_example=value-of-21", "VAULT_TOKEN=value-of-22", "SENTRY_DSN=value-of-23", "GITHUB_PAT=value-of-24",
		"OS_APPLICATION_CREDENTIAL_SECRET=value-of-25", "TF_ENCRYPTION=value-of-26", "SPACES_SECRET_ACCESS_KEY=value-of-27", "ALICLOUD_SECURITY_TOKEN=value-of-28",
		"DATABASE_URL=postgres://web:value-of-29@db.example/web", "HTTPS_PROXY=http://me:value-of-30@proxy.example:3128",
	}
	harmless := []string{
		"AWS_ACCESS_KEY_ID=AKIAAAAAAAAAAAAAAAAA", "AWS_PROFILE=production", "AWS_REGION=eu-central-1", "AWS_WEB_IDENTITY_TOKEN_FILE=/run/token", "PWD=/home/me", "OLDPWD=/home/me/x",
		"ARM_CLIENT_ID=00000000-0000-0000-0000-000000000000", "SSH_AUTH_SOCK=/run/agent.sock", "KUBERNETES_SERVICE_HOST=10.0.0.1", "DB_PASSWORD=short", "PATH=/usr/bin:/bin",
		"VAULT_ADDR=https://vault.example", "HTTPS_PROXY=http://proxy.example:3128", "XAUTHORITY=/run/xauth", "TOKEN_URL=https://sso.example/token", "NOTHING", "AUTHOR=somebody else",
		"PASSWORD_AUTH_METHODS=password,totp", "GIT_AUTHOR_NAME=somebody else", "COMPASS=north-north-west",
	}
	var want []string
	for i := range secret {
		want = append(want, fmt.Sprintf("value-of-%d", i+1))
	}
	if got := SecretVariables(append(slices.Clone(secret), harmless...)); !slices.Equal(got, want) {
		t.Errorf("SecretVariables() = %q, want %q", got, want)
	}
}

func TestTellSecret(t *testing.T) {
	t.Parallel()
	var got []string
	ctx := WithSecret(t.Context(), func(v string) { got = append(got, v) })
	TellSecret(ctx, "a")
	TellSecret(context.Background(), "b") // without a listener
	if !slices.Equal(got, []string{"a"}) {
		t.Errorf("told %q", got)
	}
}
