// Package register takes the place of the list of stores of External Secrets: of three dozen the lab has one.
package register

import _ "github.com/external-secrets/external-secrets/pkg/provider/kubernetes"
