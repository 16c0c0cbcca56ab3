package stage

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"handrail/drills/lab"
)

// PlainEnviron is what every tofu of the drill sees: no questions, no other registry.
func (st *Stage) PlainEnviron() []string {
	env := []string{"CHECKPOINT_DISABLE=1", "TF_IN_AUTOMATION=1", "TF_INPUT=0"}
	if st.Rec.Dir == "" {
		return env
	}
	return append(env, "TF_CLI_CONFIG_FILE="+st.CLIConfig())
}

// RobotEnviron is all that an injected tofu sees: nothing of the operator's
// environment may lead it elsewhere.
func (st *Stage) RobotEnviron() []string {
	return append(append(append(append(append(append(st.PlainEnviron(), st.keycloakEnviron(NameRobot)...), st.forgeEnviron(NameRobot)...), st.apiEnviron(NameRobot)...), lab.GoEnv()...),
		"PATH="+os.Getenv("PATH"), "HOME="+st.Home,
		"TF_DATA_DIR="+filepath.Join(st.Home, "robot-data"),
		"KUBECONFIG="+kubeconfig(st.Rec.Namespace.RobotKubeconfig),
		"KUBE_CONFIG_PATH="+st.Rec.Namespace.RobotKubeconfig,
		Marker+st.Rec.Nonce), append(append(append(append(st.uploadsEnviron(), st.awsEnviron()...), st.brokerEnviron(NameRobot)...), st.bucketEnviron(NameRobot)...), st.storeEnviron(NameRobot)...)...)
}

// CLIConfig is the file that tells tofu where providers come from.
func (st *Stage) CLIConfig() string { return filepath.Join(st.Home, "tofu.rc") }

// OperatorEnviron is the trainee's environment: theirs, with whatever would
// lead kubectl or tofu to another cluster taken out.
func (st *Stage) OperatorEnviron(base []string) []string {
	env := slices.DeleteFunc(slices.Clone(base), func(kv string) bool {
		key, _, _ := strings.Cut(kv, "=")
		return key == "KUBECONFIG" || key == brokersVariable || strings.HasPrefix(key, "RECORDS_") || strings.HasPrefix(key, "KEYCLOAK_") || foreignForge(key) || strings.HasPrefix(key, "KUBE_") || strings.HasPrefix(key, "TF_") || st.foreignCloud(key) || key == "PATH"
	})
	search := os.Getenv("PATH")
	for _, kv := range base {
		if p, ok := strings.CutPrefix(kv, "PATH="); ok {
			search = p
		}
	}
	if base == nil {
		env = append(env, "HOME="+st.Home)
	}
	if st.Tofu != "" {
		search = filepath.Dir(st.Tofu) + string(os.PathListSeparator) + search
	}
	env = append(append(append(append(env, st.keycloakEnviron(NameOperator)...), st.apiEnviron(NameOperator)...), st.brokerEnviron(NameOperator)...), append(st.bucketEnviron(NameOperator), st.storeEnviron(NameOperator)...)...)
	return append(append(append(append(env, st.forgeEnviron(NameOperator)...), append(st.uploadsEnviron(), st.awsEnviron()...)...), st.PlainEnviron()...),
		"PATH="+search,
		"KUBECONFIG="+kubeconfig(st.Rec.Namespace.OperatorKubeconfig),
		"KUBE_CONFIG_PATH="+st.Rec.Namespace.OperatorKubeconfig)
}
