# Faultline: every target works alone on a fresh Debian 12 with Swift 6.3.
.PHONY: dist dist-test setup run coverage merge-coverage docc pages hooks histories layers nightly test-browser test-setup slurm stress-cuts examples peers certificate sync-certificate calibrate screenshots test test-busy test-large test-sync disk-worlds sync-costs sync-crashes sync-stress realmswift-snippets test-address test-thread planted-bugs planted-bugs-smoke mutation lint smoke bench bench-lists bench-scale fuzz mutants damaged-images query-pairs damaged-bundles golden format
.DEFAULT_GOAL := run

# What each package is there for: libfuse3 and fusermount; SQLite for traces and the example; OpenSSL
# for encrypted files and tokens; the compiler's way to these; programs that the conformance tests and examples run; stemmers of the
# document store's full-text indexes, which are loaded when an index wants them.
PACKAGES := libfuse3-dev fuse3 sqlite3 libsqlite3-dev libssl-dev pkg-config git rsync libstemmer0d
BUILD := swift build -c release --product
BIN = $$(swift build -c release --show-bin-path)

setup:
	@missing=""; for p in $(PACKAGES); do \
	  dpkg-query -W -f='$${Status}' $$p 2>/dev/null | grep -q 'ok installed' || missing="$$missing $$p"; done; \
	if [ -n "$$missing" ]; then \
	  as_root=""; [ "$$(id -u)" = 0 ] || as_root="sudo"; \
	  echo "installing$$missing"; \
	  $$as_root apt-get update -qq && \
	  DEBIAN_FRONTEND=noninteractive $$as_root apt-get install -y -qq --no-install-recommends $$missing; \
	fi

# The main job: the shipped scenarios under FUSE, and the verdict. Some use the kernel's own file systems.
run smoke coverage: PACKAGES += e2fsprogs xfsprogs btrfs-progs
run: setup
	$(BUILD) faultline
	$(BUILD) faultline-fs
	$(BUILD) faultline-stacks
	"$(BIN)/faultline" run scenarios

# Drawn histories under another seed than make run's: the day's, unless HISTORY_SEED=N says which (minutes).
HISTORY_SEED ?= $$(date +%Y%m%d)
histories: setup
	$(BUILD) faultline
	$(BUILD) faultline-fs
	"$(BIN)/faultline" run scenarios/histories --seed $(HISTORY_SEED)

# Real programs: sqlite3, git, LMDB and others against their expected verdicts (some minutes).
examples: PACKAGES += gcc libc6-dev liblmdb-dev libleveldb-dev librocksdb-dev libtdb-dev libdb5.3-dev redis-server \
  redis-tools postgresql libgdbm-dev libtokyocabinet-dev libkyotocabinet-dev mariadb-server
examples: setup
	$(BUILD) faultline
	$(BUILD) faultline-fs
	sh examples/run-all.sh "$(BIN)/faultline"

# Test-suites of others on FaultFS and on ext4, case by case (docs/explanation/peers.md; some minutes; needs root and loop devices).
peers: PACKAGES += e2fsprogs fio stress-ng gcc libc6-dev make python3 libpython3.11-testsuite tcl8.6-dev zlib1g-dev
peers: setup
	$(BUILD) faultline
	$(BUILD) faultline-fs
	/usr/bin/python3 Tests/Peers/peers.py "$(BIN)/faultline"

# docs/generated/engine-certificate.md: each sync of the engine's commits ignored, what breaks without it.
CERTIFIED := scenarios/durability/commits.yaml scenarios/durability/one-sync.yaml scenarios/durability/small-changes.yaml
certificate: setup
	$(BUILD) faultline
	$(BUILD) faultline-fs
	out=$$(mktemp -d) && "$(BIN)/faultline" certify $(CERTIFIED) --model ext4-ordered,posix --report "$$out" && \
	  sed '/^<!-- made by/{G;q}' docs/generated/engine-certificate.md | cat - "$$out/certificate.md" > "$$out/new" && \
	  cat "$$out/new" > docs/generated/engine-certificate.md && rm -r "$$out"

# docs/generated/sync-certificate.md: the same for a synchronized realm's server and clients, with all crash states of each node.
CERTIFIED_SYNC := two-clients server-ends trim
sync-certificate: setup
	$(BUILD) faultline
	out=$$(mktemp -d) && mkdir -p "$$out/scenarios/sync" && for name in $(CERTIFIED_SYNC); do \
	  sed 's/^crash: .*/crash: {model: [ext4-ordered, posix], budget: {states: 8000}}/' scenarios/sync/$$name.yaml \
	  > "$$out/scenarios/sync/$$name.yaml"; done && program="$(BIN)/faultline" && \
	  (cd "$$out" && "$$program" certify $(CERTIFIED_SYNC:%=scenarios/sync/%.yaml) --backend in-process --report .) && \
	  sed '/^<!-- made by/{G;q}' docs/generated/sync-certificate.md | cat - "$$out/certificate.md" > "$$out/new" && \
	  cat "$$out/new" > docs/generated/sync-certificate.md && rm -r "$$out"

# A real Slurm array of four tasks on this machine, merged and compared with one run (docs/how-to/fleet.md; needs root).
slurm: PACKAGES += slurmctld slurmd slurm-client munge
slurm: setup
	$(BUILD) faultline
	$(BUILD) faultline-fs
	sh Tests/Slurm/array.sh "$(BIN)/faultline"

# Programs of Debian without a checker, as docs/generated/programs.md has them (some minutes).
judge-programs: PACKAGES += ed vim nano rsync mercurial git gnupg zip unzip xz-utils gzip gcc libc6-dev make sqlite3 curl python3-pip cron
judge-programs: setup
	$(BUILD) faultline
	$(BUILD) faultline-fs
	python3 Tests/Judging/programs.py "$(BIN)/faultline" > docs/generated/programs.md

# Persistence models against the kernel's own file systems (some minutes; needs root and loop devices).
calibrate: PACKAGES += e2fsprogs xfsprogs btrfs-progs
calibrate: setup
	$(BUILD) faultline
	$(BUILD) faultline-fs
	"$(BIN)/faultline" calibrate
	"$(BIN)/faultline" calibrate --durability

# A test that needs something the machine lacks is skipped with the reason; FAULTLINE_REQUIRE=fuse,ext4,… makes it fail
# instead (Tests/Requirements has the words). Test targets run side by side; SHARES=.ci/suite-shares holds suites to their time.
test test-busy test-setup: PACKAGES += acl bubblewrap e2fsprogs xfsprogs btrfs-progs zip gdb python3-minimal
test: setup
	swift build --build-tests
	.ci/tests $(SHARES)

test-setup: setup

# All tests three times beside four busy loops, as on a machine that others use, too; an hour.
test-busy: setup
	swift build --build-tests
	.ci/busy

# Bugs planted in the engine, each of which a scenario has to find (some minutes each): mutation testing, by either name.
mutants planted-bugs: setup
	sh Tests/PlantedBugs/run.sh

# A few of them for CI, each in an overlay over this tree and its build (needs root); make nightly plants them all.
planted-bugs-smoke: setup
	sh Tests/PlantedBugs/run.sh --here slot-is-not-synced dead-writers-block damaged-nodes-pass

# Many small bugs, drawn from a seed and switched on one at a time in one build of a copy; lists those that no near test finds
# (docs/generated/evidence.md, Mutants; an hour or more; needs root), and fails when they find less than MUTATION_LEAST percent. Seed 1 is
# always the same; MUTATION_SEED=2 and so on draw anew, MUTANTS for each folder. MUTATION="--again" goes on with what is there.
MUTATION_SEED ?= 1
MUTANTS ?= 92
MUTATION_FOLDERS ?= Sources/Engine Sources/CrashSim/CrashStates Sources/CrashSim/FaultFS Sources/CrashSim/Oracles
MUTATION_LEAST ?= $(if $(filter 1,$(MUTATION_SEED)),95,70)
MUTATION ?=
mutation: PACKAGES += acl e2fsprogs xfsprogs btrfs-progs gdb zip python3
mutation: setup
	/usr/bin/python3 Tests/Mutants/run.py --seed $(MUTATION_SEED) --count $(MUTANTS) --folders "$(MUTATION_FOLDERS)" \
	  --least $(MUTATION_LEAST) $(MUTATION)

# The engine's tests under a sanitizer; each has a build of its own.
test-address: setup
	ASAN_OPTIONS=detect_leaks=0:handle_sigbus=0 swift test --sanitize=address -Xswiftc -DADDRESS_SANITIZER \
	  --scratch-path .build-address --filter EngineTests

test-thread: setup
	TSAN_OPTIONS=handle_sigbus=0 swift test --sanitize=thread -Xswiftc -DTHREAD_SANITIZER --scratch-path .build-thread --filter EngineTests

lint:
	swift format lint --strict --recursive Package.swift Plugins Sources Tests Benchmarks examples
	swift run page-lint

# A fast subset for CI: every scenario but the slow ones with a small budget, in the debug build. The tests run most of
# the slow ones in-process; make run and make coverage run them all.
smoke: setup
	swift build --product faultline
	swift build --product faultline-fs
	swift build --product faultline-stacks
	"$$(swift build --show-bin-path)/faultline" run scenarios --budget 250 --without-tag slow

# Which lines of the engine, and which steps of its commits, the shipped scenarios reach (many minutes; not in CI).
coverage: setup
	sh Tests/Coverage/coverage.sh .build-coverage/report

# Pictures of the HTML report, for people to look at: light, dark, and 400 pixels wide.
SCREENSHOTS ?= .build/screenshots
screenshots: PACKAGES += chromium
screenshots: setup
	$(BUILD) faultline
	$(BUILD) faultline-fs
	sh Tests/Screenshots/screenshots.sh "$(BIN)/faultline" $(SCREENSHOTS)

# The peers of `make bench`; nothing else needs them.
bench: PACKAGES += liblmdb-dev libsqlcipher0
bench: setup
	swift run -c release --package-path Benchmarks bench

# Files of a million, ten and a hundred million rows (7 GB of disk, a minute): what an item costs in each, and a lookup in LMDB.
bench-scale: PACKAGES += liblmdb-dev
bench-scale: setup
	swift run -c release --package-path Benchmarks scale --csv scale.csv --svg scale.svg

# Two long branches of a list, merged by SyncCore, by Yrs (pycrdt) and by loro; minutes.
bench-lists: PACKAGES += python3-venv
bench-lists: setup
	python3 -m venv .build-lists
	.build-lists/bin/pip install -q pycrdt==0.14.13 loro==1.17.1
	swift build -c release --package-path Benchmarks --product list-merges
	.build-lists/bin/python Benchmarks/lists.py \
	  "$$(swift build -c release --package-path Benchmarks --show-bin-path)/list-merges"

# make fuzz FOR=60 TARGET=image: libFuzzer on one target (docs/reference/fuzzing.md) for so many seconds. Its corpus goes on from
# fuzz/work/TARGET; findings are fuzz/work/TARGET-crash-… (or -oom-, -timeout-).
FOR ?= 60
TARGET ?= image
FUZZ_ARGUMENTS ?=
# Targets of the engine and of queries run in a program without the lab, twice as fast (docs/decisions/0923). Both programs
# come from one build folder, and are kept beside each other as .build-fuzz/fuzz-small and -whole.
FUZZ_LAB := lab scenario fault-rules model trace control token history schedule revisions version-vectors data-file \
  document-query-json document-query-text document-query-drawn
FUZZ_SMALL := FUZZ_WITHOUT_LAB=1
FUZZ_IS_OF_LAB = $(filter $(TARGET),$(FUZZ_LAB))
FUZZ_KEEP := && cp -f .build-fuzz/release/fuzz .build-fuzz/fuzz
FUZZ_BUILD := swift build -c release --scratch-path .build-fuzz --sanitize=fuzzer \
  -Xswiftc -sanitize=fuzzer,address -Xswiftc -DFUZZING --product fuzz
FUZZ_TOOL = "$$(swift build --show-bin-path)/fuzz"
.PHONY: fuzz-build fuzz-minimise fuzz-coverage fuzz-campaign fuzz-afl
fuzz-build: setup
	$(if $(FUZZ_IS_OF_LAB),$(FUZZ_BUILD) $(FUZZ_KEEP)-whole,$(FUZZ_SMALL) $(FUZZ_BUILD) $(FUZZ_KEEP)-small)
	swift build --product fuzz

fuzz: fuzz-build
	mkdir -p fuzz/work/$(TARGET)
	$(FUZZ_TOOL) dictionary $(TARGET) > fuzz/work/$(TARGET).dict
	bash fuzz/libfuzzer.sh $(TARGET) -max_total_time=$(FOR) -print_final_stats=1 \
	  -artifact_prefix=fuzz/work/$(TARGET)- $(FUZZ_ARGUMENTS) fuzz/work/$(TARGET)

# Every target in turn for FOR seconds, and a table; TARGETS="node query" chooses some.
TARGETS ?=
fuzz-campaign: setup
	$(FUZZ_SMALL) $(FUZZ_BUILD) $(FUZZ_KEEP)-small
	$(FUZZ_BUILD) $(FUZZ_KEEP)-whole
	swift build --product fuzz
	bash fuzz/campaign.sh $(FOR) $(TARGETS)

# make fuzz-afl FOR=60 TARGET=query: AFL++ on one target for so many seconds, with the targets' own mutations (fuzz/afl.sh).
AFL_LIBRARIES := /usr/lib/afl
fuzz-afl: PACKAGES += afl++
fuzz-afl: setup
	$(if $(FUZZ_IS_OF_LAB),,$(FUZZ_SMALL)) swift build -c release --scratch-path .build-afl --sanitize=address -Xswiftc -DFUZZING -Xswiftc -DAFL \
	  -Xswiftc -sanitize-coverage=edge,trace-pc-guard,trace-cmp -Xlinker $(AFL_LIBRARIES)/libAFLDriver.a \
	  -Xlinker $(AFL_LIBRARIES)/afl-compiler-rt.o --product fuzz
	swift build -c release --scratch-path .build-afl-mutators --product fuzz-mutators
	swift build --product fuzz
	bash fuzz/afl.sh $(TARGET) $(FOR)

# The smallest corpus with the same coverage, from fuzz/work/TARGET and the kept one, into the kept one.
fuzz-minimise: fuzz-build
	rm -rf fuzz/work/kept fuzz/work/minimised && mkdir -p fuzz/work/minimised fuzz/work/$(TARGET) fuzz/work/kept
	[ ! -f Tests/FuzzTests/Corpora/$(TARGET).pack ] || \
	  $(FUZZ_TOOL) unpack Tests/FuzzTests/Corpora/$(TARGET).pack fuzz/work/kept
	bash fuzz/libfuzzer.sh $(TARGET) -merge=1 fuzz/work/minimised fuzz/work/kept fuzz/work/$(TARGET)
	$(FUZZ_TOOL) pack Tests/FuzzTests/Corpora/$(TARGET).pack fuzz/work/minimised

# Which lines the kept corpora reach: a table, and HTML in fuzz/work/coverage.
fuzz-coverage: setup
	sh fuzz/coverage.sh

# make damaged-images COUNT=1000000 FROM=0: damaged images from seeds, as in the tests, but more of them.
COUNT ?= 1000000
FROM ?= 0
damaged-images: setup
	FUZZ_WITHOUT_LAB=1 $(BUILD) fuzz
	"$(BIN)/fuzz" mutants $(FROM) $(COUNT)

# The tests that are smaller elsewhere, in a release build and whole; half a gigabyte of disk.
test-large: setup
	FAULTLINE_LARGE=1 COLLECTION_SEED=$(HISTORY_SEED)0000 COLLECTION_SEQUENCES=3000 \
	  swift test -c release -Xswiftc -enable-testing --filter \
	  'EngineTests|FleeceTests|DocumentStoreTests|BackendTests|NodeCacheTests|ScenarioSchemaTests|ShippedScenarioTests|XRayTests|LongLivedCollectionTests'

# A million pairs of drawn documents and queries without indexes, and a million with them, against a naive evaluator. Each hundred
# databases print a line; FROM=1200 goes on behind them.
PAIRS ?= 5600
query-pairs: setup
	FAULTLINE_LARGE=1 QUERY_PAIRS_FROM=$(FROM) QUERY_PAIRS_COUNT=$(PAIRS) \
	  swift test -c release -Xswiftc -enable-testing --filter QueryDifferentialTests

# Real bundles of documents, damaged in a thousand seeded ways each. FROM=1000 draws others.
BUNDLES ?= 1000
damaged-bundles: setup
	FAULTLINE_LARGE=1 DAMAGED_BUNDLES_FROM=$(FROM) DAMAGED_BUNDLES=$(BUNDLES) \
	  swift test -c release -Xswiftc -enable-testing --filter DamagedBundleTests

# All orders of arrival in small synchronized worlds, drawn ones, the lists' sizes, and recorded transactions: minutes in a release build.
test-sync: setup
	FAULTLINE_LARGE=1 swift test -c release --filter "SyncCoreTests|SyncClientTests|SyncServerTests|SyncWorldTests"

# What it costs writers that a file is synchronized: the same durable work on one that is and on one that is not (a minute).
sync-costs: setup
	FAULTLINE_ONLY=sync-writer swift build -c release --scratch-path .build-sync-costs
	program="$$(FAULTLINE_ONLY=sync-writer swift build -c release --scratch-path .build-sync-costs --show-bin-path)/sync-writer" && \
	  out=$$(mktemp -d) && (cd "$$out" && "$$program" cost) && rm -r "$$out"

# Worlds of agents and a server on disks that lose power: an hour with three seeds, from each of which on as many worlds are drawn.
DISK_WORLDS ?= 2500
DISK_WORLD_SEEDS ?= 1000000 2000000 3000000
disk-worlds: setup
	for seed in $(DISK_WORLD_SEEDS); do FAULTLINE_LARGE=1 DISK_WORLDS_FROM=$$seed DISK_WORLDS=$(DISK_WORLDS) \
	  swift test -c release --filter DiskWorldTests || exit 1; done

# Which regions of synchronization's merge its own tests reach (minutes); MERGE_FOLDER=Sources/SyncCore/List for another folder.
MERGE_FOLDER ?= Sources/SyncCore/Merge
merge-coverage: setup
	sh Tests/Coverage/merge.sh $(MERGE_FOLDER)

# All crash states of all nodes of scenarios/sync, under four models (minutes). SYNC_STATES=100 for fewer of each.
SYNC_STATES ?= 8000
SYNC_MODELS ?= ext4-ordered, posix, xfs, btrfs
sync-crashes: setup
	swift build -c release --product faultline
	rm -rf .build/sync-crashes && mkdir -p .build/sync-crashes && cp scenarios/sync/*.yaml .build/sync-crashes
	sed -i 's/^crash: .*/crash: {model: [$(SYNC_MODELS)], budget: {states: $(SYNC_STATES)}}/' .build/sync-crashes/*.yaml
	"$$(swift build -c release --show-bin-path)/faultline" run .build/sync-crashes --backend in-process

# A package that takes layers of the lab without the engine (examples/layers): builds it, runs it, looks at what it links.
layers: setup
	sh examples/layers/run.sh

# 368 snippets written for RealmSwift, with another import: a package of its own is built and run (Tests/RealmSwiftSnippets).
realmswift-snippets: setup
	swift run --package-path Tests/RealmSwiftSnippets Snippets

# What takes too long for CI, whole, and a table of what held; hours. NIGHTLY="coverage stress-cuts" chooses some.
NIGHTLY := layers test-browser test-busy test-large test-sync disk-worlds sync-crashes sync-stress realmswift-snippets damaged-images test-address test-thread planted-bugs mutation coverage fuzz-campaign stress-cuts peers histories
nightly:
	sh .ci/nightly $(NIGHTLY)

# The tests of the HTML report in a browser.
test-browser: PACKAGES += chromium
test-browser: setup
	FAULTLINE_REQUIRE=chromium swift test --filter BrowserTests

# make sync-stress CUTS=1000 SEED=1: power failures, kills and faults in drawn histories of clients and a server (minutes).
sync-stress: setup
	swift build -c release --product faultline
	"$$(swift build -c release --show-bin-path)/faultline" stress scenarios/histories/sync.yaml --cuts $(CUTS) --seed $(SEED)

# make stress-cuts CUTS=1000 SEED=1: live power cuts on the engine under load, in the debug build (minutes).
CUTS ?= 1000
SEED ?= 1
stress-cuts: setup
	swift build --product faultline
	swift build --product faultline-fs
	"$$(swift build --show-bin-path)/faultline" stress --cuts $(CUTS) --seed $(SEED)

# Golden files of the engine's own format version; run once for a version, and put what it prints into GoldenFileTests.
golden: setup
	FAULTLINE_GOLDEN=write swift test --filter GoldenFileTests

# A tarball and a Debian package of the commands, for machines without Swift (docs/how-to/install.md; many minutes).
dist: PACKAGES += binutils gcc libc6-dev python3-minimal xz-utils
dist: setup
	bash packaging/dist.sh

# Installs that package in a bare Debian 12 and 13, and tries it there (minutes; needs root, /dev/fuse and Debian's mirror).
dist-test: PACKAGES += debootstrap
dist-test: setup
	bash packaging/test.sh

# What is made from something else: docs/reference/command-line.md from the commands' own help, descriptions in
# scenarios/schema.json from the tables of docs/reference/faults.md. The tests compare them.
pages: setup
	swift build --build-tests
	FAULTLINE_RECORD=1 swift test --skip-build --filter "CommandPageTests|FaultTableTests"

# The DocC archive of each library product, in .build/docc; a warning is an error.
docc: setup
	swift build --build-tests
	.ci/docc

# A hook that checks the form of commit messages (CONTRIBUTING.md, Commits); a hook of yours stays.
hooks:
	@hook="$$(git rev-parse --git-path hooks)/commit-msg"; \
	if [ -e "$$hook" ] && ! cmp -s .ci/hooks/commit-msg "$$hook"; then \
	  echo "$$hook is there and is not ours; it was left alone" >&2; exit 1; \
	fi; mkdir -p "$$(dirname "$$hook")" && cp .ci/hooks/commit-msg "$$hook" && echo "installed $$hook"

format:
	swift format --in-place --recursive Package.swift Plugins Sources Tests Benchmarks
