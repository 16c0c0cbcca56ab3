package redact

import (
	"slices"
	"strings"

	"handrail/evidence/jsontree"
)

// dataHash is an annotation of Secrets: a plain hash of their values, by which short ones can be guessed. External Secrets
// keeps it.
const dataHash = "reconcile.external-secrets.io/data-hash"

const LastApplied = "kubectl.kubernetes.io/last-applied-configuration"

// kubernetesTree keeps metadata and key names of Secrets and hides their values; from every object it drops the two
// fields that repeat earlier content. Then the text rules see each string that is left.
func kubernetesTree(r *Redactor, root *jsontree.Node, n Counts) {
	r.kubernetes(root, false, n)
	r.learnMarked()
	r.strings(root, "", n)
}

// anyTree is for JSON of which nothing is promised: it may hold either world.
func anyTree(r *Redactor, root *jsontree.Node, n Counts) {
	r.kubernetes(root, false, n)
	terraformTree(r, root, n)
}

func (r *Redactor) kubernetes(n *jsontree.Node, secret bool, c Counts) {
	if n.Kind == jsontree.Object {
		kind := n.Str("kind")
		secret = secret || strings.EqualFold(kind, "Secret")
		drop(n, "managedFields", "managed-fields", c)
		drop(n, LastApplied, "last-applied", c)
		if secret {
			for _, m := range n.Members {
				switch {
				case strings.EqualFold(m.Key, "data"):
					r.secretData(m.Value, c)
				case strings.EqualFold(m.Key, "stringData"):
					r.hideMarked(m.Value, "", "k8s-secret", c)
				case m.Key == "metadata":
					if notes := m.Value.Get("annotations"); notes != nil {
						if hash := notes.Get(dataHash); hash != nil {
							r.hide(hash, "k8s-secret", c)
						}
					}
				}
			}
		}
		if strings.EqualFold(kind, "SecretList") {
			if items := n.Get("items"); items != nil {
				for _, m := range items.Members {
					r.kubernetes(m.Value, true, c)
				}
			}
		}
	}
	for _, m := range n.Members {
		r.kubernetes(m.Value, false, c)
	}
}

func drop(n *jsontree.Node, key, kind string, c Counts) {
	before := len(n.Members)
	n.Members = slices.DeleteFunc(n.Members, func(m jsontree.Member) bool { return m.Key == key })
	if len(n.Members) < before {
		c.add(kind)
	}
}

// terraformTree serves raw state, `show -json` of a state and of a plan: all mark what is sensitive beside the value.
func terraformTree(r *Redactor, root *jsontree.Node, n Counts) {
	r.planVariables(root, n)
	r.terraform(root, n)
	r.learnMarked() // what is marked in one place is hidden in all others
	r.strings(root, "", n)
}

// planVariables hides input variables whose declaration says sensitive; the value itself carries no mark.
func (r *Redactor) planVariables(root *jsontree.Node, c Counts) {
	declared := root.Get("configuration").Get("root_module").Get("variables")
	values := root.Get("variables")
	if declared == nil || values == nil {
		return
	}
	for _, m := range declared.Members {
		if m.Value.Get("sensitive").IsTrue() {
			r.hideMarked(values.Get(m.Key), m.Key, "tf-sensitive", c)
		}
	}
}

func (r *Redactor) terraform(n *jsontree.Node, c Counts) {
	if n.Kind == jsontree.Object {
		for _, pair := range [...][2]string{
			{"before", "before_sensitive"}, {"after", "after_sensitive"}, {"values", "sensitive_values"},
		} {
			if v, mask := n.Get(pair[0]), n.Get(pair[1]); v != nil && mask != nil {
				r.masked(v, mask, "", c)
			}
		}
		if n.Get("sensitive").IsTrue() {
			for _, m := range n.Members {
				if !slices.Contains(besideSensitive, m.Key) && !(m.Value.Kind == jsontree.Literal && (m.Value.Text == "true" || m.Value.Text == "false")) {
					r.hideMarked(m.Value, m.Key, "tf-sensitive", c)
				}
			}
		}
		if paths := n.Get("sensitive_attributes"); paths != nil {
			for _, m := range paths.Members {
				r.sensitivePath(n.Get("attributes"), m.Value, c)
			}
		}
		r.providerSecrets(n, c)
		if n.Get("attributes") != nil {
			// Providers keep what they like in here.
			r.hideAll(n.Get("private"), "tf-private", c)
		}
	}
	for _, m := range n.Members {
		r.terraform(m.Value, c)
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

func (r *Redactor) providerSecrets(n *jsontree.Node, c Counts) {
	typ := n.Str("type")
	names, paths := providerSecrets[typ], r.toldOf(typ)
	hide := func(at *jsontree.Node) {
		for _, name := range names {
			r.hideMarked(at.Get(name), name, "tf-provider", c)
		}
		for _, path := range paths {
			r.hidePath(at, strings.Split(path, "."), c)
		}
	}
	if len(names)+len(paths) == 0 {
		return
	}
	hide(n.Get("values"))
	hide(n.Get("change").Get("before"))
	hide(n.Get("change").Get("after"))
	if list := n.Get("instances"); list != nil {
		hide(list.Get("attributes")) // a broken state has lost the bracket
		for _, m := range list.Members {
			hide(m.Value.Get("attributes"))
		}
	}
}

// besideSensitive are the fields that describe what is sensitive, in outputs, variables and schemas.
var besideSensitive = []string{"type", "name", "description", "description_kind", "nested_type", "deprecated", "validation"}

// masked hides what a mask of the same shape says true to.
func (r *Redactor) masked(v, mask *jsontree.Node, key string, c Counts) {
	if mask.IsTrue() {
		r.hideMarked(v, key, "tf-sensitive", c)
		return
	}
	switch {
	case v.Kind == jsontree.Object && mask.Kind == jsontree.Object:
		for _, m := range v.Members {
			if sub := mask.Get(m.Key); sub != nil {
				r.masked(m.Value, sub, m.Key, c)
			}
		}
	case v.Kind == jsontree.Array && mask.Kind == jsontree.Array:
		for i, m := range v.Members {
			if i < len(mask.Members) {
				r.masked(m.Value, mask.Members[i].Value, key, c)
			}
		}
	}
}

// sensitivePath follows one path of a raw state. A step that cannot be followed hides all that was reached.
func (r *Redactor) sensitivePath(at, path *jsontree.Node, c Counts) {
	key := ""
	for _, m := range path.Members {
		if at == nil {
			return
		}
		if k := m.Value.Str("value"); k != "" {
			key = k
		}
		next := (*jsontree.Node)(nil)
		switch step := m.Value.Get("value"); {
		case m.Value.Str("type") == "get_attr":
			next = at.Get(m.Value.Str("value"))
		case m.Value.Str("type") == "index" && at.Kind == jsontree.Object:
			next = at.Get(step.Str("value"))
		case m.Value.Str("type") == "index" && at.Kind == jsontree.Array:
			if i, ok := smallInt(step.Get("value")); ok && i < len(at.Members) {
				next = at.Members[i].Value
			}
		}
		if next == nil {
			break
		}
		at = next
	}
	r.hideMarked(at, key, "tf-sensitive", c)
}

func smallInt(n *jsontree.Node) (int, bool) {
	if n == nil || len(n.Text) == 0 || len(n.Text) > 9 {
		return 0, false
	}
	i := 0
	for _, c := range n.Text {
		if c < '0' || c > '9' {
			return 0, false
		}
		i = i*10 + int(c-'0')
	}
	return i, true
}

func redactTree(in []byte, rewrite func(*jsontree.Node)) ([]byte, bool) {
	root, err := jsontree.Parse(in, jsontree.LooseKeys)
	if err != nil || root.Kind == jsontree.String || root.Kind == jsontree.Literal {
		return nil, false
	}
	rewrite(root)
	return append(root.AppendTo(make([]byte, 0, len(in)), 2, 0), '\n'), true
}

// listOfUnknown is said of items that have no kind of their own, since that of their list may follow them.
var listOfUnknown = jsontree.Member{Key: "kind", Value: &jsontree.Node{Kind: jsontree.String, Text: "SecretList"}}

// inContext redacts v as a member of an object like the one it stands in.
func (s *jsonStream) inContext(top *jsonFrame, v *jsontree.Node) *jsontree.Node {
	if top.kind == jsontree.Object {
		if top.at == "type" && v.Kind == jsontree.String {
			top.typ = v.Text
		}
		w := &jsontree.Node{Kind: jsontree.Object, Members: []jsontree.Member{{Key: top.at, Value: v}}}
		if top.at == "items" && slices.ContainsFunc(v.Members, func(m jsontree.Member) bool { return m.Value.Kind == jsontree.Object && m.Value.Get("kind") == nil }) {
			w.Members = append(w.Members, listOfUnknown)
		}
		if top.typ != "" && top.at != "type" {
			w.Members = append(w.Members, jsontree.Member{Key: "type", Value: &jsontree.Node{Kind: jsontree.String, Text: top.typ}})
		}
		s.shape(s.r, w, s.n)
		if len(w.Members) == 0 || w.Members[0].Key != top.at { // dropped, as managedFields are
			return &jsontree.Node{Kind: jsontree.Literal, Text: "null"}
		}
		return w.Members[0].Value
	}
	w := &jsontree.Node{Kind: jsontree.Object, Members: []jsontree.Member{{Key: top.key, Value: &jsontree.Node{Kind: jsontree.Array, Members: []jsontree.Member{{Value: v}}}}}}
	if top.typ != "" {
		w.Members = append(w.Members, jsontree.Member{Key: "type", Value: &jsontree.Node{Kind: jsontree.String, Text: top.typ}})
	}
	if top.key == "items" && v.Kind == jsontree.Object && v.Get("kind") == nil {
		w.Members = append(w.Members, listOfUnknown)
	}
	s.shape(s.r, w, s.n)
	return w.Members[0].Value.Members[0].Value
}
