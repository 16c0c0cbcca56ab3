package terraform

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"handrail/steps"
)

func (w *world) threeWrites() {
	w.t.Helper()
	for _, v := range []string{"1", "2", "3"} {
		w.run("apply", "-auto-approve", "-input=false", "-var=v="+v)
	}
}

// TestVersions lists what each backend keeps of three writes.
func TestVersions(t *testing.T) {
	t.Parallel()
	t.Run("s3", func(t *testing.T) {
		t.Parallel()
		a := newAWS(t)
		w := newBackend(t, "s3", a.block(`dynamodb_table = "locks"`), quick, a.environ...)
		if f := w.probe("terraform/versions", nil).Facts; f["count"].Int() != 0 || f["serial"].Known() || f["moved"].Known() {
			t.Errorf("versions of nothing = %v", f)
		}
		w.threeWrites()
		obs := w.probe("terraform/versions", steps.Params{"serial": steps.IntOf(1), "limit": steps.IntOf(20)})
		if f := obs.Facts; !f["kept"].Bool() || f["count"].Int() != 3 || f["serial"].Int() != 3 || !f["moved"].Bool() || f["more"].Bool() || len(f["versions"].Table()) != 3 || len(obs.Gaps) > 0 {
			t.Errorf("versions = %v %v", f, obs.Gaps)
		}
		// Three runs after another: writes close together, without a race.
		ids := obs.Facts["ids"].Strings()
		if f := obs.Facts; !f["write_burst"].Bool() || f["racing"].Bool() || !f["racing"].Known() || f["last_clean"].Text() != ids[0] {
			t.Errorf("bursts = %v %v", f["racing"].Why(), f)
		}
		if row := obs.Facts["versions"].Table()[ids[2]]; !strings.Contains(row, "serial 1, lineage ") {
			t.Errorf("the oldest version is %q", row)
		}
		if f := w.probe("terraform/versions", steps.Params{"limit": steps.IntOf(2), "serial": steps.IntOf(3), "since": steps.TimeOf(time.Unix(0, 0))}).Facts; f["count"].Int() != 2 || !f["more"].Bool() || f["moved"].Bool() || f["writes_since"].Known() {
			t.Errorf("two versions = %v", f)
		}
		if f := w.probe("terraform/versions", steps.Params{"limit": steps.IntOf(20), "since": steps.TimeOf(time.Now().Add(time.Hour))}).Facts; f["writes_since"].Int() != 0 || !f["writes_since"].Known() {
			t.Errorf("writes after now = %v", f["writes_since"].Why())
		}
		if f := w.probe("terraform/versions", steps.Params{"limit": steps.IntOf(20), "since": steps.TimeOf(time.Unix(0, 0))}).Facts; f["writes_since"].Int() != 3 {
			t.Errorf("writes since the beginning = %v", f["writes_since"])
		}
		w.probe("terraform/lock", nil)
		// The content of a version is put back, then another state, then it is deleted.
		put := func(body string) {
			if _, err := a.bucket.PutObject(t.Context(), &s3.PutObjectInput{Bucket: aws.String("team"), Key: aws.String("net/terraform.tfstate"), Body: strings.NewReader(body)}); err != nil {
				t.Fatal(err)
			}
		}
		lineage := obs.Facts["lineage"].Text()
		put(fmt.Sprintf(`{"version":4,"serial":3,"lineage":%q,"resources":[{"mode"`, lineage))
		if obs := w.probe("terraform/versions", steps.Params{"limit": steps.IntOf(20)}); obs.Facts["racing"].Bool() || !obs.Facts["racing"].Known() || obs.Facts["last_clean"].Text() != ids[0] || !says(obs, "its write broke off") || says(obs, "two writers") {
			t.Errorf("a version that is cut off is taken for a second writer: %v %v", obs.Findings, obs.Facts)
		}
		put(fmt.Sprintf(`{"version":4,"serial":3,"lineage":%q,"resources":[]}`, lineage))
		if obs := w.probe("terraform/versions", steps.Params{"limit": steps.IntOf(20)}); !says(obs, "Serial 3 was written twice") || !obs.Facts["racing"].Bool() || obs.Facts["last_clean"].Known() {
			t.Errorf("one serial twice is not said: %v %v", obs.Findings, obs.Facts)
		}
		put(`{"version":4,"serial":9,"lineage":"another","resources":[]}`)
		put(`torn`)
		obs = w.probe("terraform/versions", steps.Params{"limit": steps.IntOf(20)})
		if f := obs.Facts; f["serial"].Known() || f["count"].Int() != 7 || len(obs.Gaps) != 1 {
			t.Errorf("a torn write = %v %v", f, obs.Gaps)
		}
		if _, err := a.bucket.DeleteObject(t.Context(), &s3.DeleteObjectInput{Bucket: aws.String("team"), Key: aws.String("net/terraform.tfstate")}); err != nil {
			t.Fatal(err)
		}
		if f := w.probe("terraform/versions", steps.Params{"limit": steps.IntOf(20)}).Facts; f["serial"].Known() || f["count"].Int() != 8 || !strings.Contains(f["serial"].Why(), "deleted the state") {
			t.Errorf("a deleted state = %v", f)
		}
		a.onlyReads(t)
	})
	t.Run("s3 without versions", func(t *testing.T) {
		t.Parallel()
		a := newAWS(t)
		w := newBackend(t, "s3", a.block(`use_lockfile = true`), quick, a.environ...)
		w.threeWrites()
		obs := w.probe("terraform/versions", steps.Params{"limit": steps.IntOf(20), "since": steps.TimeOf(time.Unix(0, 0))})
		if f := obs.Facts; f["kept"].Bool() || f["count"].Int() != 1 || f["serial"].Int() != 3 || f["writes_since"].Known() || f["racing"].Known() || f["last_clean"].Known() || !says(obs, "the bucket keeps no versions") {
			t.Errorf("versions = %v %v", f, obs.Findings)
		}
	})
	t.Run("gcs", func(t *testing.T) {
		t.Parallel()
		w, gate := gcsWorld(t, quick)
		w.threeWrites()
		obs := w.probe("terraform/versions", steps.Params{"limit": steps.IntOf(20)})
		if f := obs.Facts; !f["kept"].Bool() || f["count"].Int() != 4 || f["serial"].Int() != 4 || len(obs.Gaps) > 0 { // init made one
			t.Errorf("versions = %v %v", f, obs.Gaps)
		}
		if f := obs.Facts; !f["write_burst"].Bool() || f["racing"].Bool() || !f["racing"].Known() || f["last_clean"].Text() != f["newest_id"].Text() {
			t.Errorf("bursts = %v", f)
		}
		if row := obs.Facts["versions"].Table()[obs.Facts["ids"].Strings()[3]]; !strings.Contains(row, "serial 1,") {
			t.Errorf("the oldest version is %q", row)
		}
		gate.onlyReads(t)
	})
	t.Run("azurerm", func(t *testing.T) {
		t.Parallel()
		a := newAzureWorld(t)
		w := newBackend(t, "azurerm", a.block()+"\nsnapshot = true", quick, a.environ...)
		w.threeWrites()
		obs := w.probe("terraform/versions", steps.Params{"limit": steps.IntOf(20)})
		if f := obs.Facts; !f["kept"].Bool() || f["count"].Int() < 3 || f["serial"].Int() < 3 || f["newest_id"].Text() != "current" ||
			f["racing"].Bool() || !f["racing"].Known() || f["last_clean"].Text() != "current" {
			t.Errorf("versions = %v %v", f, obs.Gaps)
		}
		a.onlyReads(t)
	})
	t.Run("pg and http", func(t *testing.T) {
		t.Parallel()
		s := newStateServer(t)
		for backend, w := range map[string]*world{
			"pg":   newBackend(t, "pg", "", quick, service(t, "postgres", t.TempDir()).Env...),
			"http": newBackend(t, "http", `address = "`+s.URL+`/state"`, quick, "TF_HTTP_USERNAME=bot", "TF_HTTP_PASSWORD=http-password"),
		} {
			w.run("apply", "-auto-approve", "-input=false")
			obs := w.probe("terraform/versions", steps.Params{"serial": steps.IntOf(77)})
			if f := obs.Facts; f["kept"].Bool() || f["count"].Int() != 1 || !f["serial"].Known() || !f["moved"].Bool() || f["newest"].Known() || !says(obs, "versions") || !says(obs, "The serial moved from 77") {
				t.Errorf("%s: versions = %v %v", backend, f, obs.Findings)
			}
		}
	})
}

// gated waits, once it holds the lock, until its pipe is closed.
const gated = `
resource "terraform_data" "a" {
  input            = var.v
  triggers_replace = var.v
  provisioner "local-exec" { command = "cat pipe" }
}
variable "v" { default = "1" }
`

// hold starts an apply of gated, and returns when its provisioner runs. It goes
// on when end is closed. The test ends after all that the apply started: a child
// whose directory is gone counts as a run of any state to another test.
func (w *world) hold(args ...string) (cmd *exec.Cmd, end *os.File) {
	w.t.Helper()
	pipe := filepath.Join(w.dir, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		w.t.Fatal(err)
	}
	cmd = exec.CommandContext(w.t.Context(), w.tofu, append([]string{"apply", "-auto-approve", "-input=false"}, args...)...)
	cmd.Dir, cmd.Env = w.dir, w.bot
	alive, inherited, err := os.Pipe()
	if err != nil {
		w.t.Fatal(err)
	}
	cmd.ExtraFiles = []*os.File{inherited}
	err = cmd.Start()
	_ = inherited.Close()
	if err != nil {
		w.t.Fatal(err)
	}
	end, err = os.OpenFile(pipe, os.O_WRONLY, 0) // opens once it is read
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() {
		_ = end.Close()
		_ = cmd.Process.Kill()
		_, _ = alive.Read(make([]byte, 1)) // ends with the last that inherited it
		_ = alive.Close()
	})
	return cmd, end
}

// TestRacingVersions lets one run write over what another wrote after its lock was
// taken away from it, and asks for the last write before.
func TestRacingVersions(t *testing.T) {
	t.Parallel()
	a := newAWS(t)
	block := a.block(`dynamodb_table = "locks"`)
	w := newBackend(t, "s3", block, quick, a.environ...)
	w.run("apply", "-auto-approve", "-input=false")
	first := w.probe("terraform/versions", nil).Facts["newest_id"].Text()

	slow := newBackend(t, "s3", block, gated, a.environ...)
	cmd, end := slow.hold("-var=v=2")
	w.run("force-unlock", "-force", w.probe("terraform/lock", nil).Facts["id"].Text())
	w.run("apply", "-auto-approve", "-input=false", "-var=v=3")
	_ = end.Close()
	if err := cmd.Wait(); err == nil {
		t.Error("the run whose lock was taken away ends well, it should fail to release it")
	}
	a.longAgo(t, `"serial":1,`)
	obs := w.probe("terraform/versions", steps.Params{"limit": steps.IntOf(20)})
	f := obs.Facts
	if !f["write_burst"].Bool() || !f["racing"].Bool() || f["last_clean"].Text() != first || !says(obs, "was written twice") || !says(obs, "two writers raced") {
		t.Errorf("two writers = %v %v, want %s as the last clean write", f, obs.Findings, first)
	}
	a.onlyReads(t)
}

// longAgo dates the versions that hold a text an hour back, as the server keeps
// them.
func (a *awsWorld) longAgo(t *testing.T, text string) {
	t.Helper()
	found := 0
	if err := filepath.WalkDir(filepath.Join(a.dir, "versions"), func(name string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		raw, err := os.ReadFile(name)
		if err != nil || !strings.Contains(strings.ReplaceAll(string(raw), " ", ""), text) {
			return err
		}
		found++
		at := time.Now().Add(-time.Hour)
		return os.Chtimes(name, at, at)
	}); err != nil || found == 0 {
		t.Fatalf("%d versions hold %s, %v", found, text, err)
	}
}

// TestLocalVersions finds the copies that runs and repairs leave beside a state.
func TestLocalVersions(t *testing.T) {
	t.Parallel()
	w := newBackend(t, "local", "", quick)
	w.run("apply", "-auto-approve", "-input=false", "-var=v=1")
	if obs := w.probe("terraform/versions", nil); obs.Facts["kept"].Bool() || !says(obs, "no backup lies beside") || obs.Facts["serial"].Int() != 1 {
		t.Errorf("versions = %v %v", obs.Facts, obs.Findings)
	}
	w.run("apply", "-auto-approve", "-input=false", "-var=v=2")
	w.run("state", "rm", "terraform_data.a")
	raw, err := os.ReadFile(filepath.Join(w.dir, "terraform.tfstate.backup"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(w.dir, "errored.tfstate"), raw, 0o600); err != nil {
		t.Fatal(err)
	}
	obs := w.probe("terraform/versions", steps.Params{"limit": steps.IntOf(20)})
	f := obs.Facts
	ids := f["ids"].Strings()
	if !f["kept"].Bool() || len(ids) != 4 || ids[0] != "terraform.tfstate" || !slices.Contains(ids, "errored.tfstate") || !slices.Contains(ids, "terraform.tfstate.backup") {
		t.Errorf("versions = %v", f)
	}
	if row := f["versions"].Table()["errored.tfstate"]; !strings.Contains(row, "could not save") {
		t.Errorf("errored.tfstate is said to be %q", row)
	}
}
