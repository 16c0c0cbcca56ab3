# handrail. `make practice` is the first thing to run, `make test` the last.

SHELL       := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := build
.DELETE_ON_ERROR:

HANDRAIL    := bin/handrail
STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2
GOVULNCHECK := golang.org/x/vuln/cmd/govulncheck@v1.9.0
SBOM        := github.com/CycloneDX/cyclonedx-gomod/cmd/cyclonedx-gomod@v1.10.0

# The lab is other Go modules, which cannot be embedded: the binary finds them in the clone
# that it stands in, by --lab-source or HANDRAIL_LAB_SOURCE, or in an archive beside it.

# What a release has: static, without paths, the same from every clone of a commit.
# .goreleaser.yaml says the same to goreleaser.
TARGETS := linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64
RELEASE  = CGO_ENABLED=0 go build -trimpath -ldflags '-s -w'

# The race detector needs a C compiler and makes a test some five times slower: it
# runs where goroutines meet and nothing heavy is started. All of it runs again
# without. Of the bundle and the index a few tests start goroutines, and only those run.
RACED := ./session ./steps ./steps/cluster ./steps/transport ./tui ./tui/home ./tui/longtext ./tui/match ./tui/screen ./tui/seal ./tui/viewer ./tui/wait
# What walks every runbook, every screen or every key in one goroutine is left to the run without
# it, and so is what reads the processes of the machine: go test would have to run it each time.
ONEGOROUTINE := TestTemplateOfEveryRunbook|TestPathsBeginAtTheRoot|TestStrokes|TestTypingNeverDecides|TestPastedLinesNeverClose|TestNoteEverywhere|TestHostileText|TestReplayScreens|TestOneSheet|TestNamedReadBegins|TestEveryKeyIsListed|TestStateComesBack|TestStateWithSecretsNeedsAReader
# What starts the lab, real servers or programs: always run, the slowest first. What is
# left is pure: go test takes an answer that it has for the same sources.
REAL  := ./cli ./drills ./steps/forge ./steps/kube ./steps/terraform ./session ./drills/lab ./drills/lab/gitops ./drills/lab/forge ./steps/gitops ./session/index/depot ./steps/compare ./steps/kube/loglayer ./steps/rabbitmq
PURE   = $$(go list ./... | grep -vxF "$$(go list $(REAL))")
# Tests of the lab wait for servers more than they compute, and fail each other where too many ask at once.
BESIDE := -p 2 -parallel 4

# What `make check` has vetted is not vetted again, and no test needs symbols.
QUICK  := -vet=off -ldflags=-s

# Without paths in it, what one clone compiled and tested serves the next. As in a release
# there is no C in it, and the lab, which has none either, finds half of its packages compiled.
export GOFLAGS := $(shell go env GOFLAGS) -trimpath
export CGO_ENABLED ?= 0
# Its programs hold no C but its own, which Go's linker takes in half the time of the C compiler's.
RACE := CGO_ENABLED=1 nice go test -race
RQUICK := -vet=off -ldflags='-s -linkmode=internal'

# Tests start thousands of short programs: they collect their garbage less often.
export GOGC ?= 400

# The packages that took longest, last.
define SLOWEST
/^ok / && $$3 + 0 > 0 { took[$$2] += $$3 }
END { print "\nslowest packages:"; for (p in took) printf "%8.1f s  %s\n", took[p], p | "sort -rn | head -n 10" }
endef
export SLOWEST

# One line that grows while packages compile, on a terminal; a line every hundred
# packages elsewhere. What is neither a package nor a download is shown as it is.
define METER
function say(text) { if (tty) printf "\r\033[K%s", text; else print text; fflush() }
/^go: downloading / { if (tty || ++fetched % 50 == 1) say("handrail: fetching " $$3); next }
/^[^ \t:#]+$$/ { built++; if (tty || built % 100 == 0) say("handrail: compiling, package " built " of at most " total); next }
{ if (tty) printf "\r\033[K"; print; fflush() }
END { if (tty) printf "\r\033[K" }
endef
export METER

.PHONY: build lab-source release-check man practice test test-real test-race test-pure test-short check static bench pictures fuzz fuzz-readers corpora evidence-report evidence-kills leaks gitleaks demo vuln prepare clean

build: ## bin/handrail
	@mkdir -p bin
	@echo "handrail: building; the first time two minutes on two processors, and a download"
	@tty=0; if [ -t 1 ]; then tty=1; fi; total=$$(go list -deps . | wc -l); \
	go build -v -o $(HANDRAIL) . 2>&1 | awk -v tty=$$tty -v total=$$total "$$METER"; \
	echo "handrail: $(HANDRAIL) is ready after $${SECONDS}s"

lab-source: ## the source of the lab as one file, the same from every clone of a commit; a release has it beside the binary
	@mkdir -p bin; git archive --format=tar --prefix=handrail/ HEAD lab | gzip -9n >bin/handrail-lab-source.tar.gz; ls -l bin/handrail-lab-source.tar.gz

release-check: lab-source ## build what a release has for each of TARGETS with its SBOM and checksums, and the first one from two clones; publishes nothing
	@rm -rf bin/dist; mkdir -p bin/dist; for t in $(TARGETS); do \
	os=$${t%/*}; arch=$${t#*/}; end=; [ $$os != windows ] || end=.exe; \
	echo "release-check: $$t"; GOOS=$$os GOARCH=$$arch $(RELEASE) -o bin/dist/handrail-$$os-$$arch$$end .; done
	@for b in bin/dist/handrail-*; do go run $(SBOM) bin -json -output $$b.cdx.json $$b; done
	@cd bin/dist && sha256sum handrail-* ../handrail-lab-source.tar.gz | tee checksums.txt
	@tmp=$$(mktemp -d); trap 'rm -rf "$$tmp"' EXIT; t=$(firstword $(TARGETS)); \
	for at in one two/deeper; do git clone -q --no-hardlinks . "$$tmp/$$at"; (cd "$$tmp/$$at"; GOOS=$${t%/*} GOARCH=$${t#*/} $(RELEASE) -o "$$tmp/$${at%%/*}.bin" .); done; \
	cmp "$$tmp/one.bin" "$$tmp/two.bin" || { echo "release-check: two clones of one commit build two binaries"; exit 1; }; \
	for path in "$$tmp" "$(CURDIR)"; do if grep -qaF "$$path" "$$tmp/one.bin"; then echo "release-check: the binary holds the path $$path"; exit 1; fi; done; \
	if ldd "$$tmp/one.bin" 2>/dev/null | grep -q '=>'; then echo "release-check: the binary is not static"; exit 1; fi; \
	echo "release-check: two clones build the same static binary for $$t, without their paths"

man: build ## the manual pages, in bin/man
	@$(HANDRAIL) man bin/man

# Where a tofu will have to be built, its modules come while handrail compiles. How an incident
# ends is the code of handrail and no fault of make: 3 is one that goes on.
practice: ## build what is needed and open the first drill in the terminal
	@command -v tofu terraform >/dev/null || { GOWORK=off go list -C lab/tofu -deps github.com/opentofu/opentofu/cmd/tofu >/dev/null 2>&1 & }; \
	$(MAKE) --no-print-directory build
	@$(HANDRAIL) drill start stale-lock || case $$? in \
	3) echo "practice: go on with $(HANDRAIL) resume, or end it with $(HANDRAIL) drill stop";; 4|5|6) ;; *) exit 1;; esac

prepare: build
	@$(HANDRAIL) lab build --services

test: static prepare ## everything, lab included, nothing skipped; what is long runs without the race detector
	@mkdir -p bin; failed=0; $(MAKE) --no-print-directory -j2 -k test-real test-race test-pure 2>&1 | tee bin/test.log || failed=1; \
	awk "$$SLOWEST" bin/test.log; exit $$failed

# The real parts wait for each other and for the clock: what computes fills the gaps, and
# yields to them.
test-real:
	go test $(QUICK) -count=1 $(BESIDE) -timeout 60m $(REAL)

test-race:
	$(RACE) $(RQUICK) -short -timeout 40m -skip '$(ONEGOROUTINE)' $(RACED)
	$(RACE) $(RQUICK) -short -timeout 40m -run 'TestHandl|TestSecondWriter|TestFollow$$|TestSeveralAtOnce' ./evidence ./session/index

test-pure:
	nice go test $(QUICK) -timeout 40m $(PURE)

# A child that may take so much memory and no more is ended by the detector before that: its bounds are tested without.
test-short: ## no lab and nothing long, with the race detector; what did not change is not run again
	$(RACE) $(RQUICK) -short -timeout 20m -skip '^(TestBounds|TestChartBounds)$$' $(PURE) ./session

check: static ## format, vet, staticcheck, dropped errors, import rule
	go test $(QUICK) -count=1 -run 'TestImport|TestOnlySessionActs|TestDangerousIsSeen|TestNames|TestDocuments' ./cli

# What `make check` has besides is tests, and `make test` has them all.
static:
	@mkdir -p bin
	@bad=$$(gofmt -l $$(git ls-files -co --exclude-standard '*.go')); if [ -n "$$bad" ]; then echo "not gofmt'ed:"; echo "$$bad"; exit 1; fi
	go vet ./...
	go run $(STATICCHECK) ./...
	go build -C .ci/lint -buildvcs=false -o ../../bin/lint . && go vet -vettool=$(CURDIR)/bin/lint ./...

bench: build ## benchmarks beside their peers; docs/performance.md says how to read them
	go test -run '^$$' -bench . -skip 'BenchmarkCapture|BenchmarkSpeed' -benchmem ./triage/... ./evidence/... ./runbooks/... ./tui/...
	go test -run '^$$' -bench . -benchmem -benchtime 1000x ./session
	@command -v rg >/dev/null || echo "bench: ripgrep (rg) is not installed; the rows that compare with it are left out"
	go test -run '^$$' -bench 'Query|Rows' -benchtime 20x ./session/index
	HANDRAIL_BIN=$(CURDIR)/$(HANDRAIL) go test -run '^$$' -bench Process -benchtime 9x ./session/index
	go test -run '^$$' -bench Rebuild -benchtime 1x ./session/index
	go test -run '^$$' -bench 'List|Writers' -benchtime 1x -timeout 60m ./steps/kube
	go test -run '^$$' -bench . -benchtime 2x -timeout 30m ./steps/terraform/tfstate
	go test -run '^$$' -bench Dossier -benchtime 2x -timeout 30m ./steps/terraform
	HANDRAIL_BIN=$(CURDIR)/$(HANDRAIL) go test -run '^$$' -bench Process -benchtime 30x ./cli
	HANDRAIL_BIN=$(CURDIR)/$(HANDRAIL) HANDRAIL_IDLE=30s go test -run '^$$' -bench Terminal -benchtime 1x -timeout 30m ./cli
	@ls -l $(HANDRAIL)
	@$(HANDRAIL) lab status -o json

pictures: ## draw the pictures of docs/, the moving one and the golden screens anew; look at every change
	go test -count=1 ./tui -run 'TestPictures|TestScreens|TestReplayScreens' -update
	go test -count=1 ./cli -run 'TestDemoTape$$' -update

gitleaks: ## gitleaks and its stopwatch, from a module of their own
	cd evidence/gitleaks && go build -tags gore2regex -o ../../bin/gitleaks github.com/zricethezav/gitleaks/v8
	cd evidence/gitleaks && go build -tags gore2regex -o ../../bin/gitleaks-speed .

# What the tests and benchmarks of the evidence say, as one table.
define EVIDENCE
function put(property, bar, got) { rows = rows "| " property " | " bar " | " got " |\n" }
function said() { sub(/^ *[a-z]+_test.go:[0-9]+: /, ""); return $$0 }
function metric(name,  i) { for (i = 2; i <= NF; i++) if ($$i == name) return $$(i - 1); return "" }
/kill_test.go.*acknowledged/ { put("entries lost under SIGKILL", "0 in 1,000, 0 in 20,000", said()) }
/power_test.go.*ways to lose/ { put("power cut before every call", "0 lost, always opens", said()) }
/power_test.go.*each failed once/ { put("every call fails", "0 lost, always opens", said()) }
/^ *everybit_test.go.*all noticed/ { $$0 = said(); files++; bits += $$2; cuts += $$5 }
/vectors_test.go.*sample bundles/ { put("verifier tests that must fail", "60, and 70 % of all", said()) }
/kinds_test.go.*contexts/ { put("redaction", "no 12 bytes survive", said()) }
/secondopinion_test.go.*findings before/ { put("gitleaks on a bundle full of secrets", "finds none", said()) }
/clean_test.go.*touched/ { put("false redactions", "1 in 10,000 lines", said()) }
/^BenchmarkSpeed/ { t = metric("of-gitleaks"); put("redaction speed", "8 x gitleaks (re2); worst a tenth", metric("MB/s") " MB/s; " (t ? t : "not beside") " x gitleaks; " metric("of-sha256") " x SHA-256; worst " metric("worst-of-normal") " of normal") }
/^BenchmarkCapture/ { put("capture of 1 GiB, " $$1, "constant memory", metric("peak-MB") " MB of heap at the peak") }
/^BenchmarkVerifyEntries/ { put("verify 10,000 entries", "100 ms", metric("ns/op") / 1e6 " ms") }
/^BenchmarkVerifyBlobs\/handrail/ { ours = metric("MB/s") }
/^BenchmarkVerifyBlobs\/sha256sum/ { put("verify blobs", "0.8 x sha256sum", ours / metric("MB/s") " x (" ours " MB/s)") }
/^BenchmarkProcess\// { name = $$1; sub(/^BenchmarkProcess\//, "", name); sub(/-[0-9]+$$/, "", name); t = metric("x-ripgrep"); query = query sep name " " (t ? t " x (CPU " metric("x-ripgrep-cpu") " x)" : metric("ms") " ms, ripgrep is not on PATH"); sep = "; " }
/^module / { n++; modules = modules " " $$2 }
END { if (query) put("query over 2,000 bundles", "10 x ripgrep", "both as processes: " query); put("bit flips and cuts", "100 % noticed", files " files of a bundle: " bits " bits, one of each byte, and " cuts " cuts, all noticed"); put("modules outside the standard library and golang.org/x", "6", n ":" modules); printf "| property | bar | measured |\n| --- | --- | --- |\n%s", rows }
endef
export EVIDENCE

evidence-report: build gitleaks ## the figures of the evidence as one table, the last thing printed; takes minutes
	@mkdir -p bin; uptime
	{ go test -count=1 -timeout 30m -v -run 'TestKilled|TestPowerCut|TestEveryCallFails|TestEveryBitAndEveryCut|TestVectors' ./evidence -kills 1000 -power-length 200; \
	go test -count=1 -timeout 30m -v -run 'TestKindsInContexts|TestCleanTextStays|TestSecondOpinion|TestStateLargerThanAUnit|TestBrokenState|TestHostileInputIsBounded' ./evidence/redact; } | tee bin/evidence.log | grep -E '^(--- |ok|FAIL)'
	HANDRAIL_GITLEAKS=$(CURDIR)/bin/gitleaks-speed go test -run '^$$' -bench 'BenchmarkSpeed$$|BenchmarkCapture|BenchmarkVerify' -benchtime 1x ./evidence ./evidence/redact | tee -a bin/evidence.log
	HANDRAIL_BIN=$(CURDIR)/$(HANDRAIL) go test -run '^$$' -bench Process -benchtime 9x ./session/index | tee -a bin/evidence.log
	@go list -deps -f '{{with .Module}}module {{.Path}}{{end}}' ./evidence | sort -u | grep -v -e '^module handrail$$' -e '^module golang.org/x/' >>bin/evidence.log
	@uptime; awk "$$EVIDENCE" bin/evidence.log

FUZZED   := FuzzJournal FuzzUnpack FuzzManifest redact/FuzzRedact redact/FuzzStructures redact/FuzzTeamRule sig/FuzzSigners sig/FuzzSignature sig/FuzzTimestamp visible/FuzzString
FUZZTIME := 10m
CORPORA  := evidence/corpus/corpora.tar.gz

fuzz: ## fuzz each parser of outside bytes for FUZZTIME, and keep what it found; without FUZZTIME an hour and a half
	@mkdir -p bin/fuzz; cache=$$(go env GOCACHE)/fuzz/handrail/evidence; \
	for t in $(FUZZED); do \
	mkdir -p "$$cache/$$t"; tar xzf $(CORPORA) -C "$$cache/$$t" --strip-components 1 "$$(basename $$t)" 2>/dev/null || true; \
	GOTMPDIR=/tmp TMPDIR=$$(test -d /dev/shm && echo /dev/shm || echo /tmp) go test -run '^$$' -fuzz "^$$(basename $$t)$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 20x \
	./evidence/$$(dirname $$t) | tee bin/fuzz/$$(basename $$t).log | tail -n 4; done
	@$(MAKE) --no-print-directory corpora

# The fuzzers of what reads the outside: each package that has one, so that none is forgotten. One
# that did not come past what it knows already has fuzzed nothing, and fails too.
READERS := ./runbooks/... ./session/... ./steps/... ./triage/...

fuzz-readers: FUZZTIME := 1m
fuzz-readers: ## fuzz everything below READERS that has a fuzzer for FUZZTIME, one minute each, one after the other; fails where one found something or was not fuzzed
	@mkdir -p bin/fuzz; failed=0; \
	dirs=$$(go list -f '{{range .TestGoFiles}}{{$$.Dir}}/{{.}}{{"\n"}}{{end}}{{range .XTestGoFiles}}{{$$.Dir}}/{{.}}{{"\n"}}{{end}}' $(READERS) | xargs grep -l '^func Fuzz' | xargs -n 1 dirname | sort -u); \
	for d in $$dirs; do \
	names=$$(go test $(QUICK) -list '^Fuzz' "$$d" | sed -n '/^Fuzz/p') || { echo "fuzz-readers: $$d is not built"; exit 1; }; \
	for t in $$names; do \
	name=$${d#$(CURDIR)/}/$$t; log=bin/fuzz/$${name//\//.}.log; said=; \
	go test $(QUICK) -run '^$$' -fuzz "^$$t$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 20x "$$d" >"$$log" 2>&1 || { failed=1; said="FAILED, see $$log:"; }; \
	ran=$$(sed -n 's/.*\(execs: .*\)/\1/p' "$$log" | tail -n 1); \
	[ -n "$$said$$ran" ] || { failed=1; said="NOT FUZZED, raise FUZZTIME:"; ran=$$(grep -o 'gathering .*' "$$log" | tail -n 1); }; \
	printf '%-56s %s\n' "$$name" "$$said $$ran"; done; done; exit $$failed

corpora: ## pack what fuzzing keeps on this machine
	@cache=$$(go env GOCACHE)/fuzz/handrail/evidence; tmp=$$(mktemp -d); \
	for t in $(FUZZED); do mkdir -p "$$tmp/$$(basename $$t)"; cp "$$cache/$$t"/* "$$tmp/$$(basename $$t)/" 2>/dev/null || true; done; \
	tar -C "$$tmp" --sort=name --owner=0 --group=0 --mtime=@0 -cf - . | gzip -9n >$(CORPORA); rm -rf "$$tmp"; ls -l $(CORPORA)

evidence-kills: ## 20,000 SIGKILLs of a writer, each looked at; twenty minutes to an hour
	go test -count=1 -timeout 4h -v -run TestKilledWriterLosesNothing ./evidence -kills 20000

leaks: build gitleaks ## search the bundles of this machine, those of drills among them, for secrets that got through
	@bad=0; for b in $${XDG_STATE_HOME:-$$HOME/.local/state}/handrail/incidents/*.hrb; do \
	[ -d "$$b" ] || continue; PATH="$(CURDIR)/bin:$$PATH" $(HANDRAIL) bundle leaks "$$b" || bad=1; done; exit $$bad

demo: build ## demo.gif from demo.tape; needs vhs, ttyd and ffmpeg
	@command -v vhs >/dev/null || { echo "vhs is not installed; the tape itself is tested by: go test ./cli -run TestDemoTape"; exit 1; }
	@id=$$(printf '\nq\n' | $(HANDRAIL) drill start killed-runner --plain | grep -oE '[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}' | head -n 1 || true); \
	sed "s/LOCK_ID/$$id/" demo.tape | PATH="$(CURDIR)/bin:$$PATH" vhs -

vuln: ## known vulnerabilities, where their database can be reached
	@out=$$(go run $(GOVULNCHECK) ./... 2>&1) && { echo "$$out"; exit 0; } || code=$$?; \
	echo "$$out"; \
	case "$$out" in *"Your code is affected"*) exit $$code;; *) echo "vulnerabilities: not checked (govulncheck or its database cannot be reached)";; esac

clean:
	rm -rf bin
