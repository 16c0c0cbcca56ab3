// Package forge runs a real Gitea for drills and tests: accounts with tokens, organisations, repositories, protected
// branches, pull requests, reviews, commit statuses, pushes and runs of Actions, each as Gitea itself makes and refuses it.
//
// [Start] gives one with its data in a folder of the caller. It listens on 127.0.0.1 alone, has no SSH, sends no mail, asks
// for no update and no avatar, and its webhooks reach loopback alone. It ends with Close, and on Linux with the process
// that started it. [Begin] takes one that the caller runs and that outlives it, and [At] finds that again. Passwords and tokens are made at random and stay in memory.
//
// A [User] does what an account may do, with its token. What Gitea refuses comes back as a [*RefusedError] with the status
// and the words of Gitea; nothing here decides what is refused.
//
// Gitea's own runner cannot be had here, so a [Runner] speaks its protocol instead: it takes the jobs that Gitea hands
// out, and reports the steps, logs and results that a drill wants. Runs, tasks, logs and the commit statuses that follow
// from them are Gitea's. No workflow is executed. Gitea 1.24 lists tasks (actions/tasks) and no runs (actions/runs
// answers 404).
package forge
