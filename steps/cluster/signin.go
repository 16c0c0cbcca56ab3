package cluster

// SignIn lends the terminal to the credential plugin of the kubeconfig's user
// while f runs: the plugin may show a code or ask for a password there. What it
// answers also serves the clients that are made later, by [Load], for the same
// user. f must use a client that was made from a.Config before, and that client
// must be the first of the process for this user; nothing else may read the
// terminal or send requests until f returns.
//
// client-go keeps one authenticator for each plugin configuration as it stands
// when a client is made, and asks that configuration before each run whether
// stdin may be used. Where that is not so, the plugin is lent nothing.
func (a Access) SignIn(f func() error) error {
	if e := a.Config.ExecProvider; e != nil {
		e.StdinUnavailable = false
		defer func() { e.StdinUnavailable = true }()
	}
	return f()
}
