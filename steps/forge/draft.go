package forge

import (
	"crypto/sha1"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

// Draft is a pull request that is not open yet: one commit on a new branch.
type Draft struct {
	Repo, Base string // where it goes
	Commit     string // at which Base stands
	Branch     string // that is made
	Title      string // of the pull request and its commit
	Body       string // Markdown
	Files      []DraftFile
}

// DraftFile is a file that Base has, and what it becomes.
type DraftFile struct {
	Path    string // from the root of the repository, with slashes
	Was, Is []byte
}

// order is one request that writes. Everything of it is known before the first is sent.
type order struct {
	method, below string // path below the API
	body          []byte
}

func (o order) String() string {
	sum := sha256.Sum256(o.body)
	return fmt.Sprintf("%s %s (%d bytes, SHA-256 %s)", o.method, o.below, len(o.body), hex.EncodeToString(sum[:])[:12])
}

// orders opens a draft. Sources: Gitea 1.24, repoChangeFiles and repoCreatePullRequest; GitHub REST, "Create a reference",
// "Create or update file contents" and "Create a pull request"; GitLab REST, "Create a commit with multiple files and
// actions" and "Create MR".
func (d Draft) orders(v vendor) []order {
	type object = map[string]any
	send := func(method, below string, body object) order {
		raw, _ := json.Marshal(body) // strings and lists of them always marshal
		return order{method, below, raw}
	}
	switch v {
	case gitlab:
		project := "/projects" + path(d.Repo)
		var actions []object
		for _, f := range d.Files {
			actions = append(actions, object{"action": "update", "file_path": f.Path, "encoding": "base64", "content": base64.StdEncoding.EncodeToString(f.Is)})
		}
		return []order{
			send(http.MethodPost, project+"/repository/commits", object{"branch": d.Branch, "start_sha": d.Commit, "commit_message": d.Title, "actions": actions}),
			send(http.MethodPost, project+"/merge_requests", object{"source_branch": d.Branch, "target_branch": d.Base, "title": d.Title, "description": d.Body}),
		}
	case github:
		repo := "/repos/" + d.Repo
		out := []order{send(http.MethodPost, repo+"/git/refs", object{"ref": "refs/heads/" + d.Branch, "sha": d.Commit})}
		for _, f := range d.Files {
			out = append(out, send(http.MethodPut, repo+"/contents"+path(strings.Split(f.Path, "/")...),
				object{"branch": d.Branch, "message": d.Title, "sha": blobName(f.Was), "content": base64.StdEncoding.EncodeToString(f.Is)}))
		}
		return append(out, send(http.MethodPost, repo+"/pulls", object{"head": d.Branch, "base": d.Base, "title": d.Title, "body": d.Body}))
	}
	repo := "/repos/" + d.Repo
	var files []object
	for _, f := range d.Files {
		files = append(files, object{"operation": "update", "path": f.Path, "sha": blobName(f.Was), "content": base64.StdEncoding.EncodeToString(f.Is)})
	}
	return []order{
		send(http.MethodPost, repo+"/contents", object{"branch": d.Base, "new_branch": d.Branch, "message": d.Title, "files": files}),
		send(http.MethodPost, repo+"/pulls", object{"head": d.Branch, "base": d.Base, "title": d.Title, "body": d.Body}),
	}
}

// commentOrder writes a comment below a pull request or an issue.
func commentOrder(v vendor, repo string, number int64, issue bool, text string) order {
	raw, _ := json.Marshal(map[string]string{"body": text})
	n := strconv.FormatInt(number, 10)
	if v != gitlab {
		return order{http.MethodPost, "/repos/" + repo + "/issues/" + n + "/comments", raw}
	}
	of := "/merge_requests/"
	if issue {
		of = "/issues/"
	}
	return order{http.MethodPost, "/projects/" + url.PathEscape(repo) + of + n + "/notes", raw}
}

// blobName is how Git names the content of a file (Pro Git, "Git Objects").
func blobName(content []byte) string {
	h := sha1.New()
	fmt.Fprintf(h, "blob %d\x00", len(content))
	h.Write(content)
	return hex.EncodeToString(h.Sum(nil))
}
