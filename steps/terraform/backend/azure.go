package backend

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/bloberror"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/lease"

	"handrail/steps"
	"handrail/steps/transport"
)

// azureStore is the backend that keeps the state as a blob and the lock as a
// lease on that very blob, described in its metadata.
type azureStore struct {
	env       steps.Env
	fetch     *fetcher
	container *container.Client
	open      func(guard guardOf, again int32) (*fetcher, *container.Client, error)
	address   string
	account   string
	box, key  string
	customer  *blob.CPKInfo
}

// azureLockInfo is the metadata that describes the lock.
const azureLockInfo = "terraformlockid"

// azureClouds are the names of the storage of each cloud.
var azureClouds = map[string]string{
	"": "core.windows.net", "public": "core.windows.net", "china": "core.chinacloudapi.cn", "usgovernment": "core.usgovcloudapi.net",
}

func newAzure(set settings, out steps.Sink) (*azureStore, error) {
	a := &azureStore{env: set.env, account: set.w.Setting("storage_account_name"), box: set.w.Setting("container_name"), key: set.w.Setting("key")}
	if a.account == "" || a.box == "" || a.key == "" {
		return nil, errors.New("azurerm backend: its settings name no storage account, container or key; run tofu init there yourself")
	}
	if set.w.Space != "default" {
		a.key += "env:" + set.w.Space
	}
	suffix, known := azureClouds[strings.ToLower(set.get("environment", "ARM_ENVIRONMENT"))]
	if host := set.get("metadata_host", "ARM_METADATA_HOST"); host != "" || !known {
		return nil, errors.New("azurerm backend: handrail knows the clouds public, china and usgovernment by name and does not ask a metadata host for others")
	}
	if strings.ContainsAny(a.account, "/.:@?#") {
		return nil, fmt.Errorf("azurerm backend: %q is not a valid storage account name", steps.Clip(a.account, 60))
	}
	server := "https://" + a.account + ".blob." + suffix
	a.address = server + "/" + a.box + "/" + a.key
	// An access key only signs, these two are sent.
	sasLoan := set.lend("sas_token", "ARM_SAS_TOKEN")
	if set.get("access_key", "ARM_ACCESS_KEY") != "" {
		sasLoan = ""
	}
	if err := set.refuseLoan("azurerm://"+a.account, "", sasLoan, set.lend("customer_provided_key", "ARM_CUSTOMER_PROVIDED_KEY")); err != nil {
		return nil, err
	}
	if key := set.get("customer_provided_key", "ARM_CUSTOMER_PROVIDED_KEY"); key != "" {
		out.Secret(key)
		sum, err := keySum(key)
		if err != nil {
			return nil, err
		}
		algorithm := blob.EncryptionAlgorithmTypeAES256
		a.customer = &blob.CPKInfo{EncryptionKey: &key, EncryptionKeySHA256: &sum, EncryptionAlgorithm: &algorithm}
	}
	at := server + "/" + url.PathEscape(a.box)
	into, err := azureSignIn(set, a.account, at, out)
	if err != nil {
		return nil, err
	}
	a.open = func(guard guardOf, again int32) (*fetcher, *container.Client, error) {
		f, err := newFetcher(set.env, trust{named: true}, guard, server, out)
		if err != nil {
			return nil, nil, err
		}
		box, err := into(&container.ClientOptions{ClientOptions: policy.ClientOptions{
			Transport: f.client, Retry: policy.RetryOptions{MaxRetries: again}, Telemetry: policy.TelemetryOptions{Disabled: true},
		}})
		return f, box, err
	}
	a.fetch, a.container, err = a.open(transport.Fetch, 1)
	return a, err
}

// azureSignIn finds what opens the container at an address.
func azureSignIn(set settings, account, at string, out steps.Sink) (func(*container.ClientOptions) (*container.Client, error), error) {
	if key := set.get("access_key", "ARM_ACCESS_KEY"); key != "" {
		out.Secret(key)
		cred, err := container.NewSharedKeyCredential(account, key)
		if err != nil {
			return nil, errors.New("azurerm backend: access_key is not in base64")
		}
		return func(o *container.ClientOptions) (*container.Client, error) {
			return container.NewClientWithSharedKeyCredential(at, cred, o)
		}, nil
	}
	if sas := strings.TrimPrefix(set.get("sas_token", "ARM_SAS_TOKEN"), "?"); sas != "" {
		out.Secret(sas)
		if q, err := url.ParseQuery(sas); err == nil && q.Get("sig") != "" {
			out.Secret(q.Get("sig"))
		}
		return func(o *container.ClientOptions) (*container.Client, error) {
			return container.NewClientWithNoCredential(at+"?"+sas, o)
		}, nil
	}
	return nil, denied("azurerm backend: it signs in through Entra ID (or gets the key from the resource manager), which handrail does not do; set ARM_SAS_TOKEN to what az storage container generate-sas --permissions rl --as-user prints")
}

func (a *azureStore) Name() string { return "azurerm" }

func (a *azureStore) Cluster(context.Context) (string, string, error) {
	return a.fetch.server(), "", nil
}

func (a *azureStore) UnlockPolicy() UnlockPolicy {
	return UnlockPolicy{Way: unlockByID, Grammar: lockGrammar, ByHand: "az storage blob lease break, once the run is known to be dead"}
}

func (a *azureStore) Command(what string) string {
	at := fmt.Sprintf("--account-name %s --container-name %s", steps.Quote(a.account), steps.Quote(a.box))
	switch what {
	case "lock":
		return fmt.Sprintf(`az storage blob show %s --name %s --query "{lease:properties.lease,metadata:metadata}"`, at, steps.Quote(a.key))
	case "versions":
		return fmt.Sprintf("az storage blob list %s --prefix %s --include vs", at, steps.Quote(a.key))
	}
	return fmt.Sprintf("az storage blob download %s --name %s", at, steps.Quote(a.key))
}

// why tells apart what the service says no to.
func (a *azureStore) why(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	var said *azcore.ResponseError
	if !errors.As(err, &said) {
		return unreachable(ctx, a.fetch.server(), err)
	}
	code := steps.Clip(said.ErrorCode, 60)
	switch {
	case bloberror.HasCode(err, bloberror.ContainerNotFound):
		return fmt.Errorf("the container %q does not exist: check container_name and the storage account", a.box)
	case said.StatusCode == 404:
		// HEAD has no body that says what is missing; a container is looked for by listing.
		return errAbsent
	case bloberror.HasCode(err, bloberror.AuthenticationFailed) || said.StatusCode == 401:
		return denied("%s does not accept the credentials (%s); a key may have been rotated, or a token have expired", a.fetch.server(), code)
	case said.StatusCode == 403:
		return denied("forbidden: the credentials may not read %s (%s); ask for read and list on the container, and look at the firewall of the storage account", a.address, code)
	}
	return fmt.Errorf("%s answered %d (%s)", a.address, said.StatusCode, code)
}

func (a *azureStore) Lock(ctx context.Context) (Lock, error) {
	r := Lock{Where: a.address, Media: steps.MediaJSON}
	p, err := a.container.NewBlobClient(a.key).GetProperties(ctx, &blob.GetPropertiesOptions{CPKInfo: a.customer})
	if err != nil {
		err = a.why(ctx, err)
	}
	r.at, r.noClock = a.fetch.clock(a.env)
	if errors.Is(err, errAbsent) {
		return r, a.contained(ctx)
	}
	if err != nil {
		return Lock{}, fmt.Errorf("lock: %w", err)
	}
	var text string
	for name, value := range p.Metadata {
		if strings.EqualFold(name, azureLockInfo) && value != nil {
			text = *value
		}
	}
	var info *LockInfo
	r.Raw, info, r.InfoWhy = parseAzureLock(text)
	if p.LeaseStatus == nil {
		return Lock{}, fmt.Errorf("lock: %s does not say whether the blob is leased", a.fetch.server())
	}
	if *p.LeaseStatus != lease.StatusTypeLocked {
		r.Leftover = info
		return r, nil
	}
	r.Held, r.Info = true, info
	// The blob is the state's own: a run that saves moves the time as well.
	if r.wrote.rewrote = true; p.LastModified != nil {
		r.wrote.at = *p.LastModified
	} else {
		r.wrote.why = a.fetch.server() + " does not say when the blob was written"
	}
	if info != nil {
		r.ID = info.ID
		return r, nil
	}
	r.Stuck = "The blob is leased without metadata that describes the lock: force-unlock ends in \"blob metadata was empty\"."
	r.StuckCure = "az storage blob lease break, once the run is known to be dead"
	r.note(steps.Warning, "The blob is leased, but %s: the run was killed between the two, or something else than a run leased it. force-unlock is impossible, only az storage blob lease break is left.", r.InfoWhy)
	return r, nil
}

// parseAzureLock reads what the metadata says of a lock, or says why not.
func parseAzureLock(text string) (raw []byte, info *LockInfo, why string) {
	if text == "" {
		return nil, nil, "its metadata " + azureLockInfo + " is empty"
	}
	raw, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return nil, nil, "its metadata " + azureLockInfo + " is not in base64"
	}
	if info, err = parseLockInfo(raw); err != nil {
		return raw, nil, "its metadata " + azureLockInfo + " cannot be read: " + err.Error()
	}
	return raw, info, ""
}

// contained makes sure that a blob is absent, and not the container it would be in.
func (a *azureStore) contained(ctx context.Context) error {
	one := int32(1)
	_, err := a.container.NewListBlobsFlatPager(&container.ListBlobsFlatOptions{Prefix: &a.key, MaxResults: &one}).NextPage(ctx)
	if err == nil {
		return nil
	}
	if err = a.why(ctx, err); errors.Is(err, errAbsent) {
		err = fmt.Errorf("the container %q does not exist: check container_name and the storage account", a.box)
	}
	return fmt.Errorf("container: %w", err)
}

func (a *azureStore) openState(ctx context.Context) (io.ReadCloser, int64, error) {
	resp, err := a.container.NewBlobClient(a.key).DownloadStream(ctx, &blob.DownloadStreamOptions{CPKInfo: a.customer})
	if err != nil {
		return nil, 0, a.why(ctx, err)
	}
	size := int64(0)
	if resp.ContentLength != nil {
		size = *resp.ContentLength
	}
	return resp.Body, size, nil
}

func (a *azureStore) State(ctx context.Context) (State, error) {
	r := State{Where: a.address}
	first, size, err := a.openState(ctx)
	if errors.Is(err, errAbsent) {
		return r, a.contained(ctx)
	}
	if err != nil {
		return r, fmt.Errorf("state: %w", err)
	}
	if size == 0 { // made for the lease of a first run
		return r, first.Close()
	}
	// A lock changes the time of the blob as well, so that it says nothing of the state.
	r.Exists, r.size = true, size
	r.Body = newStateReader(ctx, first, func(ctx context.Context) (io.ReadCloser, error) {
		again, _, err := a.openState(ctx)
		return again, err
	})
	return r, nil
}

// keySum is the digest that goes with a key of the customer.
func keySum(key string) (string, error) {
	raw, err := base64.StdEncoding.DecodeString(key)
	if err != nil || len(raw) != 32 {
		return "", errors.New("azurerm backend: customer_provided_key is not 32 bytes in base64")
	}
	sum := sha256.Sum256(raw)
	return base64.StdEncoding.EncodeToString(sum[:]), nil
}
