package evidence

import (
	"encoding/base64"
	"slices"
	"strings"
)

const lastApplied = "kubectl.kubernetes.io/last-applied-configuration"

// kubernetesTree keeps metadata and key names of Secrets and hides their values; from every object it drops the two
// fields that repeat earlier content. Then the text rules see each string that is left.
func kubernetesTree(r *redactor, root *node, n counts) {
	r.kubernetes(root, false, n)
	r.learnMarked()
	r.strings(root, "", n)
}

// anyTree is for JSON of which nothing is promised: it may hold either world.
func anyTree(r *redactor, root *node, n counts) {
	r.kubernetes(root, false, n)
	terraformTree(r, root, n)
}

func (r *redactor) kubernetes(n *node, secret bool, c counts) {
	if n.kind == objectNode {
		kind := n.str("kind")
		secret = secret || strings.EqualFold(kind, "Secret")
		drop(n, "managedFields", "managed-fields", c)
		drop(n, lastApplied, "last-applied", c)
		if secret {
			for _, m := range n.members {
				switch {
				case strings.EqualFold(m.key, "data"):
					r.secretData(m.value, c)
				case strings.EqualFold(m.key, "stringData"):
					r.hideMarked(m.value, "", "k8s-secret", c)
				}
			}
		}
		if strings.EqualFold(kind, "SecretList") {
			if items := n.get("items"); items != nil {
				for _, m := range items.members {
					r.kubernetes(m.value, true, c)
				}
			}
		}
	}
	for _, m := range n.members {
		r.kubernetes(m.value, false, c)
	}
}

// secretData hides values by what they decode to, so that the same password in a log gets the same token.
func (r *redactor) secretData(n *node, c counts) {
	for _, m := range n.members {
		if raw, err := base64.StdEncoding.DecodeString(m.value.text); err == nil && m.value.kind == stringNode && len(raw) > 0 {
			r.mark(m.key, string(raw))
			m.value.text = string(r.token(nil, "k8s-secret", normalValue(raw)))
			c.add("k8s-secret")
			continue
		}
		r.hideAll(m.value, "k8s-secret", c)
	}
	if n.kind == stringNode {
		r.hide(n, "k8s-secret", c)
	}
}

func drop(n *node, key, kind string, c counts) {
	before := len(n.members)
	n.members = slices.DeleteFunc(n.members, func(m member) bool { return m.key == key })
	if len(n.members) < before {
		c.add(kind)
	}
}

// terraformTree serves raw state, `show -json` of a state and of a plan: all mark what is sensitive beside the value.
func terraformTree(r *redactor, root *node, n counts) {
	r.planVariables(root, n)
	r.terraform(root, n)
	r.learnMarked() // what is marked in one place is hidden in all others
	r.strings(root, "", n)
}

// planVariables hides input variables whose declaration says sensitive; the value itself carries no mark.
func (r *redactor) planVariables(root *node, c counts) {
	declared := root.get("configuration").get("root_module").get("variables")
	values := root.get("variables")
	if declared == nil || values == nil {
		return
	}
	for _, m := range declared.members {
		if m.value.get("sensitive").isTrue() {
			r.hideMarked(values.get(m.key), m.key, "tf-sensitive", c)
		}
	}
}

func (r *redactor) terraform(n *node, c counts) {
	if n.kind == objectNode {
		for _, pair := range [...][2]string{
			{"before", "before_sensitive"}, {"after", "after_sensitive"}, {"values", "sensitive_values"},
		} {
			if v, mask := n.get(pair[0]), n.get(pair[1]); v != nil && mask != nil {
				r.masked(v, mask, "", c)
			}
		}
		if n.get("sensitive").isTrue() {
			for _, m := range n.members {
				if !slices.Contains(besideSensitive, m.key) && !(m.value.kind == literalNode && (m.value.text == "true" || m.value.text == "false")) {
					r.hideMarked(m.value, m.key, "tf-sensitive", c)
				}
			}
		}
		if paths := n.get("sensitive_attributes"); paths != nil {
			for _, m := range paths.members {
				r.sensitivePath(n.get("attributes"), m.value, c)
			}
		}
		r.providerSecrets(n, c)
		if n.get("attributes") != nil {
			// Providers keep what they like in here.
			r.hideAll(n.get("private"), "tf-private", c)
		}
	}
	for _, m := range n.members {
		r.terraform(m.value, c)
	}
}

// providerSecrets are attributes that a provider's schema calls sensitive though their names do not say so. A raw state of
// an older tofu does not mark them.
var providerSecrets = map[string][]string{
	"random_password": {"result", "bcrypt_hash"}, "tls_private_key": {"private_key_pem", "private_key_openssh", "private_key_pem_pkcs8"},
	"kubernetes_secret": {"data", "binary_data"}, "kubernetes_secret_v1": {"data", "binary_data"},
	"aws_secretsmanager_secret_version": {"secret_string", "secret_binary"}, "aws_ssm_parameter": {"value", "insecure_value"},
	"aws_iam_access_key": {"secret", "ses_smtp_password_v4", "encrypted_secret"}, "aws_db_instance": {"password"},
	"google_secret_manager_secret_version": {"secret_data"}, "google_service_account_key": {"private_key"},
	"azurerm_key_vault_secret": {"value"}, "azurerm_storage_account": {"primary_connection_string", "secondary_connection_string", "primary_blob_connection_string", "secondary_blob_connection_string"},
	"vault_generic_secret": {"data", "data_json"}, "vault_kv_secret_v2": {"data", "data_json"}, "vault_kv_secret": {"data", "data_json"},
	"local_sensitive_file": {"content", "content_base64"}, "helm_release": {"values", "set_sensitive", "manifest"},
	"github_actions_secret": {"plaintext_value", "encrypted_value"}, "terraform_remote_state": {"outputs"}, "local_file": {"sensitive_content"},
}

func (r *redactor) providerSecrets(n *node, c counts) {
	typ := n.str("type")
	names, paths := providerSecrets[typ], r.toldOf(typ)
	hide := func(at *node) {
		for _, name := range names {
			r.hideMarked(at.get(name), name, "tf-provider", c)
		}
		for _, path := range paths {
			r.hidePath(at, strings.Split(path, "."), c)
		}
	}
	if len(names)+len(paths) == 0 {
		return
	}
	hide(n.get("values"))
	hide(n.get("change").get("before"))
	hide(n.get("change").get("after"))
	if list := n.get("instances"); list != nil {
		hide(list.get("attributes")) // a broken state has lost the bracket
		for _, m := range list.members {
			hide(m.value.get("attributes"))
		}
	}
}

// besideSensitive are the fields that describe what is sensitive, in outputs, variables and schemas.
var besideSensitive = []string{"type", "name", "description", "description_kind", "nested_type", "deprecated", "validation"}

// masked hides what a mask of the same shape says true to.
func (r *redactor) masked(v, mask *node, key string, c counts) {
	if mask.isTrue() {
		r.hideMarked(v, key, "tf-sensitive", c)
		return
	}
	switch {
	case v.kind == objectNode && mask.kind == objectNode:
		for _, m := range v.members {
			if sub := mask.get(m.key); sub != nil {
				r.masked(m.value, sub, m.key, c)
			}
		}
	case v.kind == arrayNode && mask.kind == arrayNode:
		for i, m := range v.members {
			if i < len(mask.members) {
				r.masked(m.value, mask.members[i].value, key, c)
			}
		}
	}
}

// sensitivePath follows one path of a raw state. A step that cannot be followed hides all that was reached.
func (r *redactor) sensitivePath(at, path *node, c counts) {
	key := ""
	for _, m := range path.members {
		if at == nil {
			return
		}
		if k := m.value.str("value"); k != "" {
			key = k
		}
		next := (*node)(nil)
		switch step := m.value.get("value"); {
		case m.value.str("type") == "get_attr":
			next = at.get(m.value.str("value"))
		case m.value.str("type") == "index" && at.kind == objectNode:
			next = at.get(step.str("value"))
		case m.value.str("type") == "index" && at.kind == arrayNode:
			if i, ok := smallInt(step.get("value")); ok && i < len(at.members) {
				next = at.members[i].value
			}
		}
		if next == nil {
			break
		}
		at = next
	}
	r.hideMarked(at, key, "tf-sensitive", c)
}

func smallInt(n *node) (int, bool) {
	if n == nil || len(n.text) == 0 || len(n.text) > 9 {
		return 0, false
	}
	i := 0
	for _, c := range n.text {
		if c < '0' || c > '9' {
			return 0, false
		}
		i = i*10 + int(c-'0')
	}
	return i, true
}

func redactTree(in []byte, rewrite func(*node)) ([]byte, bool) {
	root, err := parseJSON(in, looseKeys)
	if err != nil || root.kind == stringNode || root.kind == literalNode {
		return nil, false
	}
	rewrite(root)
	return append(root.appendTo(make([]byte, 0, len(in)), 2, 0), '\n'), true
}
