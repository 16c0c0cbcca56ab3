// Command terraform-provider-records is a provider that does everything badly
// that providers are known to do badly, and the API that it speaks to. Drills
// and tests put it into a filesystem mirror as lab.example/lab/records; nobody
// else wants it.
//
// # The provider
//
//	terraform {
//	  required_providers {
//	    records = { source = "lab.example/lab/records", version = "0.1.0" }
//	  }
//	}
//	provider "records" {
//	  endpoint     = "http://127.0.0.1:1234" # or RECORDS_API
//	  token        = "..."                   # or RECORDS_TOKEN or TF_TOKEN_lab_example; without one: No valid credential sources found
//	  retry        = "forever"               # what a 429 does: forever (the default: once a second, without a word, past
//	                                         # every cancellation), bounded (five times), never (an error at once)
//	  cached_reads = true                    # a read returns what the state says and never asks: ghosts survive a refresh
//	  heeds_cancel = true                    # false by default: what has begun goes on when tofu is stopped or killed
//	}
//
//	resource "records_entry" "a" {
//	  name   = "a"     # also the id of an import; another name replaces
//	  value  = "one"   # changed in place
//	  parts  = 5       # a creation and a deletion are so many writes, one after the other; 1 by default
//	  pause  = "2s"    # between them; "0s" by default
//	  mangle = true    # the creation answers with another value than planned: "inconsistent result after apply"
//	  # computed: id, revision (counts up at each write in the API)
//	}
//
// It declares no timeouts. After a creation it reads once, and a read that finds
// nothing is the error "couldn't find resource" with nothing recorded: an entry
// that shows late becomes an orphan. A name that is taken is the error
// "EntityAlreadyExists: ... already exists".
//
// A provider that tofu leaves behind (kill -9) goes on until its call returns:
// with parts and pause the API changes under everybody's eyes for parts*pause.
// Its process is terraform-provider-records_v0.1.0.
//
// # The API
//
//	terraform-provider-records api --dir DIR [--addr 127.0.0.1:0]
//
// listens on loopback. DIR/tokens must hold lines "NAME TOKEN" before it starts;
// DIR/address holds host:port once it listens. It lasts until it is killed, keeps
// nothing, and writes one JSON line for each request to DIR/requests.log: {"at","who","method","path","status"}.
//
//	GET    /entries          {"entries":[{"name","value","revision","parts"}]} in order of name
//	GET    /entries/NAME     one, or 404
//	PUT    /entries/NAME     {"value":"...","part":1}; with If-None-Match: * a name that is taken is 409
//	DELETE /entries/NAME     204, 404 when it is gone; ?part=N takes one part of many
//	GET    /log              {"requests":[...]} as in the file
//	GET    /control          the knobs
//	PATCH  /control          some of the knobs, for the token of "robot" alone
//
// Tests start it as the service "records" of drills/lab (StartService) and put the
// provider beside it with lab.Mirror; drills have the verb records.api.
//
// Each request carries Authorization: Bearer TOKEN, else it is 401; but for
// GET /ready, which says that it listens. The knobs:
//
//	writes   how many more writes pass before each is a 429; -1, as it begins, for any number
//	hidden   how many reads of an entry are 404 after its creation; 0 as it begins
//	late     the one entry that hidden is about, "" for each
//	busy     the one entry whose writes are all a 429, "" for none
//	rate     requests a second before a 429; 0, as it begins, for any number
//
// A list (GET /entries) is never hidden: it is the truth that a drill judges by.
package main
