package inject

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"

	"handrail/drills/stage"
	"handrail/steps/strict"
)

// verb is one kind of injection. The table is closed: a document can only ask
// for what stands here.
type verb struct {
	doc    string
	module bool // it works in a root module, with tofu
	apart  bool // it works without a cluster, in a drill with a bucket
	read   func(r *strict.Reader, args *strict.Node, name string) action
}

// as reads arguments by the tags of the fields of an action.
func as[A action](r *strict.Reader, args *strict.Node, name string) action {
	var a A
	r.Struct(args, name, &a)
	return a
}

// action is a verb with its arguments. It changes the lab or the drill's own
// directory as robot, and returns when what it injected can be seen.
type action interface {
	apply(ctx context.Context, st *stage.Stage) error
}

// step is one injection of a scene.
type step struct {
	verb string
	act  action
}

// Steps are the injections of a scene, in their order.
type Steps []step

var verbTable struct {
	once sync.Once
	of   map[string]verb
}

func verbs() map[string]verb {
	verbTable.once.Do(func() { verbTable.of = allVerbs() })
	return verbTable.of
}

func allVerbs() map[string]verb {
	return map[string]verb{
		"bucket.run":         {doc: "serves a bucket for the state on loopback, so that the drill needs no cluster", module: true, apart: true, read: as[runBucket]},
		"uploads.run":        {doc: "starts a store of objects and a Prometheus on loopback, with a policy that denies the writer", read: as[runUploads]},
		"aws.run":            {doc: "starts a stand-in for AWS on loopback, and makes the places in which a server of it could be named", read: as[runAWS]},
		"aws.heal":           {doc: "repairs the replication of an instance of it, as its owner does", read: as[healAWS]},
		"aws.connect":        {doc: "connects to an instance of it, as a reader does", read: as[connectAWS]},
		"places.put":         {doc: "puts further files into these places, and commits them where they are code", read: as[placeTexts]},
		"places.lock":        {doc: "takes one of these places away from the operator", read: as[lockPlace]},
		"replica.fail":       {doc: "lets a real replica of MariaDB stop by the format of the log of its primary, and keeps its error log", read: as[breakReplica]},
		"lock.backdate":      {doc: "makes the lock of the state look older", module: true, apart: true, read: as[backdate]},
		"lock.freed":         {doc: "waits until the backend frees the lock of a dead run by itself", module: true, apart: true, read: as[freed]},
		"lock.release":       {doc: "ends the lock with the tools of its server, where force-unlock cannot", module: true, apart: true, read: as[release]},
		"broker.fill":        {doc: "waits until the broker answers, gives it its definitions and the operator an account that may only look", read: as[fillBroker]},
		"broker.run":         {doc: "starts a RabbitMQ on loopback behind a Service of the drill's namespace", read: as[runBroker]},
		"file.place":         {doc: "puts a file beside the drill", apart: true, read: as[placeFile]},
		"forge.run":          {doc: "starts a Gitea on loopback with one repository, its accounts and a protected branch", read: as[runForge]},
		"forge.push":         {doc: "pushes one file to a branch of the forge, as one of its accounts", read: as[pushForge]},
		"forge.pull":         {doc: "opens a pull request, as one of the accounts of the forge", read: as[pullForge]},
		"forge.review":       {doc: "reviews the newest commit of a pull request, as one of the accounts of the forge, and may save the review", read: as[reviewForge]},
		"forge.update":       {doc: "merges the base branch into that of a pull request, as one of the accounts of the forge", read: as[updateForge]},
		"forge.job":          {doc: "takes the next job of the forge as its runner does, runs tofu in the module, and reports its log and its end", module: true, read: as[jobForge]},
		"forge.expire":       {doc: "lets the forge clean up, and waits until an artifact has expired", read: as[expireForge]},
		"forge.deliver":      {doc: "lets the Git server of the drill take over what the forge has", read: as[deliverForge]},
		"forge.merge":        {doc: "merges a pull request, as one of the accounts of the forge", read: as[mergeForge]},
		"git.commit":         {doc: "commits the files of the module", module: true, apart: true, read: as[commit]},
		"log.stall":          {doc: "lets the log go on with progress lines, as if nothing had ended for so long", module: true, apart: true, read: as[stall]},
		"mirror.alter":       {doc: "puts another content under the name of the mirrored provider, or the right one again", module: true, read: as[alter]},
		"records.api":        {doc: "starts the API of the bad provider on loopback, and mirrors the provider", module: true, read: as[serveAPI]},
		"records.control":    {doc: "turns the knobs of that API", module: true, read: as[control]},
		"records.delete":     {doc: "deletes an entry from that API behind the back of tofu", module: true, read: as[deleteEntry]},
		"records.list":       {doc: "saves the list of that API into the module, as a person does", module: true, read: as[listEntries]},
		"records.put":        {doc: "writes an entry into that API behind the back of tofu", module: true, read: as[putEntry]},
		"tofu.init":          {doc: "initialises the module again, or on a new runner where it must fail", module: true, read: as[initialise]},
		"tofu.orphans":       {doc: "ends the plugins and children of provisioners that an apply left behind", module: true, apart: true, read: as[orphans]},
		"tofu.signal":        {doc: "sends a signal to the apply that runs", module: true, apart: true, read: as[signal]},
		"kube.account":       {doc: "makes an account, or gives one of the lab's own more rights, in the drill's namespace", read: as[allow]},
		"kube.await":         {doc: "waits until another writer gives a field a value", read: as[reverted]},
		"webhook.dead":       {doc: "registers a webhook for the drill's namespace that fails closed and whose service does not exist", read: as[deadHook]},
		"policy.enforce":     {doc: "makes a ValidatingAdmissionPolicy for the drill's namespace, and waits until the API server enforces it", read: as[enforced]},
		"gatekeeper.run":     {doc: "starts Gatekeeper on loopback, with a webhook that polices the drill's namespace alone", read: as[runGatekeeper]},
		"gatekeeper.enforce": {doc: "makes a ConstraintTemplate and its constraint for the drill's namespace, and waits until the constraint denies", read: as[constrain]},
		"webhook.serve":      {doc: "starts a webhook on loopback that rewrites objects of the drill's namespace as they are stored", read: as[hook]},
		"node.mask":          {doc: "masks a program on the node, as an administrator does", read: as[maskUnit]},
		"node.run":           {doc: "starts a node on loopback for the Pods of the drill's namespace", read: as[runNode]},
		"node.unit":          {doc: "puts a program on the node that writes the same fields again and again", read: as[unitOf]},
		"space.doom":         {doc: "makes a second namespace with the objects of a file, and asks for its deletion", read: as[doom]},
		"space.more":         {doc: "makes a further namespace, called as the drill's with a word behind it", read: as[further]},
		"kube.class":         {doc: "makes a StorageClass of the whole lab, unless it is there", read: as[class]},
		"kube.create":        {doc: "creates the objects of a file beside the drill", read: as[create]},
		"kube.define":        {doc: "lets the API server serve a kind of the drill's own group", read: as[define]},
		"kube.delete":        {doc: "asks for the deletion of one object", read: as[remove]},
		"helm.upgrade":       {doc: "runs a real helm that installs or upgrades a release, and kills it where the drill says so", read: as[upgrade]},
		"kube.fail":          {doc: "says of the Pod of a Job what a node would whose container failed, and waits until Argo CD has seen the Job", read: as[failJob]},
		"kube.ready":         {doc: "lets a Deployment have one Pod that is ready", read: as[ready]},
		"kube.recreate":      {doc: "deletes one object and creates it again as the file has it, under a new UID", read: as[recreate]},
		"kube.replica":       {doc: "starts a second etcd and API server on loopback from a snapshot of the lab's, gives the operator a context that leads there, and saves the metrics of the lab's etcd", read: as[replica]},
		"keycloak.run":       {doc: "starts a stand-in for Keycloak on loopback, with the realm of a file as people edited it in the console", read: as[runKeycloak]},
		"keycloak.start":     {doc: "does what the start of a Pod of Keycloak does: imports the realm of a ConfigMap, by the strategy of another", read: as[startKeycloak]},
		"keycloak.call":      {doc: "changes one thing of the realm through the admin API, as a person does in the console", read: as[callKeycloak]},
		"keycloak.token":     {doc: "has a token issued for a client, and saves it beside the drill", read: as[issueToken]},
		"git.applied":        {doc: "applies one manifest of the newest commit by hand, and nothing else of it", read: as[applied]},
		"kube.signals":       {doc: "puts a file beside the drill that says what an in-house reconciler waits for", read: as[gateSignals]},
		"policy.commit":      {doc: "commits a file to the clone of the policies in the module", module: true, apart: true, read: as[commitPolicy]},
		"policy.judge":       {doc: "lets the policy gate judge an input, and saves what OPA prints", module: true, apart: true, read: as[judge]},
		"module.edit":        {doc: "changes the configuration of the module", module: true, apart: true, read: as[edit]},
		"module.paste":       {doc: "pastes into the module what a step of the incident gives", module: true, apart: true, read: as[paste]},
		"state.copy":         {doc: "keeps a copy of the state in the module, as old as it should be", module: true, apart: true, read: as[keepState]},
		"state.cross":        {doc: "gives two resources in the state each other's objects, as a move by hand that mixed them up", module: true, apart: true, read: as[cross]},
		"state.renumber":     {doc: "writes the state again under another serial, as a copy put back by hand has it", module: true, apart: true, read: as[renumber]},
		"state.tear":         {doc: "cuts the end off the state in the backend", module: true, apart: true, read: as[tear]},
		"tofu.adopt":         {doc: "records one object of the drill's namespace under an address", module: true, read: as[adopt]},
		"tofu.apply":         {doc: "starts an apply in an embedded workspace, and may kill it", module: true, apart: true, read: as[apply]},
		"tofu.finish":        {doc: "lets the apply go on that its module held back, and waits for its end", module: true, apart: true, read: as[finish]},
		"tofu.forget":        {doc: "takes one address out of the state, and leaves the object", module: true, read: as[forget]},
		"tofu.module":        {doc: "writes an embedded workspace and initialises it", module: true, apart: true, read: as[module]},
		"tofu.plan":          {doc: "makes a saved plan and the JSON of it, as a pipeline does", module: true, apart: true, read: as[plan]},
		"tofu.run":           {doc: "applies to the end, or until it fails as it should", module: true, apart: true, read: as[run]},
		"tofu.unlock":        {doc: "breaks the lock of the state", module: true, apart: true, read: as[unlock]},
		"argocd.run":         {doc: "starts an Argo CD of the drill's namespace on loopback, and the Git server that it reads", read: as[runArgo]},
		"argocd.app":         {doc: "makes an application of Argo CD, and waits for the end of its first sync", read: as[deliver]},
		"argocd.sync":        {doc: "syncs an application of Argo CD, as a pipeline does, and waits until it ends or waits for something", read: as[syncArgo]},
		"argocd.suspend":     {doc: "switches off the auto-sync of an application of Argo CD, as a person does with its tool", read: as[suspendArgo]},
		"argocd.synced":      {doc: "lets Argo CD look again, and waits until it finds no difference", read: as[compared]},
		"flux.run":           {doc: "starts a Flux of the drill's namespace on loopback, with a source of a repository on the Git server that it starts", read: as[runFlux]},
		"flux.app":           {doc: "makes a Kustomization of Flux, and waits for the end of its first reconciliation", read: as[kustomize]},
		"flux.kill":          {doc: "kills a controller of Flux while a Kustomization is being reconciled, and says of the Pod of its Deployment what a node would", read: as[killFlux]},
		"flux.start":         {doc: "starts a controller of Flux again that was killed, once its Deployment has a new Pod", read: as[startFlux]},
		"flux.suspend":       {doc: "suspends a Kustomization, as a person does with the tool of Flux", read: as[suspendApp]},
		"git.publish":        {doc: "commits files to a repository of the drill's Git server, and waits until applications have compared with it", read: as[publish]},
		"kube.edit":          {doc: "changes one object as a person does with kubectl edit", read: as[editLive]},
		"registry.run":       {doc: "starts an image registry on loopback", read: as[runRegistry]},
		"registry.push":      {doc: "pushes an image under a tag, and its signature where a key signs it", read: as[pushImage]},
		"registry.delete":    {doc: "deletes the manifest that a tag names, as a cleanup does", read: as[deleteImage]},
		"registry.stop":      {doc: "ends the registry, as an outage does", read: as[stopRegistry]},
		"registry.start":     {doc: "starts the registry again, with what it held", read: as[startRegistry]},
		"registry.deploy":    {doc: "gives a Deployment an image of the registry and a number of replicas, and waits until its Pods have pulled it", read: as[deployImage]},
		"store.run":          {doc: "starts External Secrets for the drill's namespace, and makes a namespace beside it that is its store", read: as[runStore]},
		"store.put":          {doc: "makes one version of a value current in the store, as its owner does", read: as[putVersion]},
		"store.deliver":      {doc: "makes an ExternalSecret for a value of the store, and waits until it was delivered", read: as[bringSecret]},
		"store.sync":         {doc: "lets an ExternalSecret ask its store, as at the end of its interval", read: as[syncSecret]},
		"store.deny":         {doc: "revokes the credential of the store, and waits until an ExternalSecret is refused", read: as[denyStore]},
		"store.admit":        {doc: "gives the store a new credential, as its owner does, and waits until it is ready", read: as[admitStore]},
		"tofu.begin":         {doc: "starts an apply that its module holds back", module: true, apart: true, read: as[begin]},
	}
}

func verbNames() []string { return slices.Sorted(maps.Keys(verbs())) }

// Apply makes the injections, one after the other.
func (in Steps) Apply(ctx context.Context, st *stage.Stage) error {
	for _, s := range in {
		if st.Robot == nil && !verbs()[s.verb].apart {
			return fmt.Errorf("%s: this drill has no cluster", s.verb)
		}
		if err := s.act.apply(ctx, st); err != nil {
			return fmt.Errorf("%s: %w", s.verb, err)
		}
	}
	return nil
}

// Read reads a list of injections, nil when n is nil. The reader has [Forms].
func Read(p *strict.Reader, n *strict.Node) Steps {
	if n == nil {
		return nil
	}
	var out Steps
	for _, item := range p.Items(n, "inject") {
		if s, ok := readStep(p, item); ok {
			if out.Bucket() && !verbs()[s.verb].apart {
				p.Fail(item, "", "%s needs a cluster, and a drill with a bucket has none", s.verb)
			}
			if s.verb == verbBucket && len(out) > 0 {
				p.Fail(item, "put it first", "%s says where the state is", s.verb)
			}
			out = append(out, s)
		}
	}
	if n.Kind == strict.Sequence && len(n.Content) == 0 {
		p.Fail(n, "", "a drill injects something")
	}
	return out
}

// step reads one injection: a mapping of one verb to its arguments.
func readStep(p *strict.Reader, n *strict.Node) (step, bool) {
	if n.Kind != strict.Mapping || len(n.Content) != 2 {
		p.Fail(n, "as `- tofu.apply: {dir: six-slow}`", "an injection is one verb with its arguments")
		return step{}, false
	}
	name := p.OneOf(n.Content[0], "verb", verbNames())
	v, ok := verbs()[name]
	if !ok {
		return step{}, false
	}
	return step{verb: name, act: v.read(p, n.Content[1], name)}, true
}
