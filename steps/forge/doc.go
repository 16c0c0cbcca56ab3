// Package forge asks the forge of a team what it knows of a change: a pull request with its reviews, checks and
// owners, a run of CI, its log, and its artifacts. It is one model over Gitea, GitHub and GitLab. What a probe asks leaves
// through transport.Fetch, which sends GET and HEAD, to one server.
//
// Two gates write. [Proposer] opens a pull request from a change that another package makes, with one commit on a new branch;
// [Commenter] writes one comment. Neither merges, approves, pushes to a branch that is there, or deletes. Every request of
// them is known before the first is sent and stands in the preview by method, path and digest; transport.Store lets these
// through, each once. What was made is read again before it counts as done.
//
// Where the forge is and as whom it is asked stands in the environment of the operator, by the names that the tools of
// each forge use:
//
//	Gitea   GITEA_TOKEN, GITEA_SERVER_URL
//	GitHub  GH_TOKEN or GITHUB_TOKEN; GITHUB_API_URL or GITHUB_SERVER_URL, else github.com
//	GitLab  GITLAB_TOKEN; GITLAB_URL or CI_SERVER_URL, else gitlab.com
//
// HANDRAIL_FORGE (gitea, github or gitlab) chooses where more than one has a token. No runbook and no repository names a
// server or a token. The token is a secret of the incident and lives in memory alone. A redirect is followed on the same
// server alone, below the same path.
//
// Unknown is never absent. A forge answers 404 for what is not there and for what a token may not see, so a 404 is an
// unknown with both in its reason. What is absent is told by a list that was read to its end. A list longer than a bound
// is unknown. Each part of a pull request is unknown by itself, with the reason in the fact and in a gap.
//
// Code owners are read from the branch that binds, never from the head. Members of a team are not asked for: an approval
// that may be theirs leaves open whether an owner approved.
//
// Vocabulary: a pull is a pull request or a merge request; a run is a workflow run or a pipeline; a job is one of its
// jobs, and of Gitea the task that a runner took. A run is over when nothing of it can run any more without a person.
//
// What a forge does not tell:
//
//   - Gitea 1.24 has no list of runs (actions/runs answers 404). A run is put together from actions/tasks, which holds the
//     jobs that a runner took, and the commit statuses of its jobs, which hold those that wait. It tells no actor,
//     runner or steps.
//   - GitLab does not say which commit an approval was for, unless the project removes approvals on a push.
//   - GitLab names the authors of commits by their addresses, and no forge names who pushed them.
//   - GitHub hands out logs from another host, to which nothing is sent.
//
// The contract suite holds Gitea to a real server (drills/lab/forge). GitHub and GitLab are held to answers composed after
// their published documentation of REST (testdata/github-docs, testdata/gitlab-docs): they were not asked themselves.
package forge
