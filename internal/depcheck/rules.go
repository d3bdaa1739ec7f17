package depcheck

// module is the import path that all packages of the project begin with.
const module = "fairlead.dev/fairlead/"

// maxInternal is how many packages there are under internal at most. The last ones are internal/schedule: when upgrades may begin is one pure rule for
// both APIs and for commands, and belongs to none of them; and internal/rollout/claims: whose the objects are that an InstallPlan meets is one rule for the
// controller and for what tells of a plan before it is made; and internal/console, which shows and changes what internal/ops has; and
// internal/devcluster/realnode, which changes the machine and knows nothing of clusters, as devcluster does the other way round; and
// internal/catalogtest, which proves the upgrades of a catalog on a cluster: it puts together what commands do and belongs to none of them.
const maxInternal = 50

// maxMethods is how many methods a type has at most.
const maxMethods = 25

// anything allows every package of the project.
const anything = "*"

// rule says what the non-test files of a package, and of the packages below it, may import.
type rule struct {
	// pkg is the package, relative to the module. The longest match counts.
	pkg string
	// may lists packages of the project, with those below them, that may be imported.
	may []string
	// client is true where a Kubernetes client may be used.
	client bool
}

// rules is the table of the architecture page, from the bottom to the top.
var rules = []rule{
	{pkg: "version"},
	{pkg: "resolve", may: []string{"catalog/safetext"}},
	{pkg: "catalog", may: []string{"version"}},
	{pkg: "catalog/prune", may: []string{"catalog", "version"}},
	{pkg: "catalog/template", may: []string{"catalog", "version"}},
	{pkg: "api", may: []string{"api"}},
	{pkg: "bundle", may: []string{"api/crds", "api/operators", "api/packages", "catalog", "version"}},
	{pkg: "bundle/configmap", may: []string{"api/operators", "bundle"}},
	{pkg: "bundle/registryv1", may: []string{"api/operators", "bundle", "catalog"}},
	{pkg: "bundle/packagemanifest", may: []string{"bundle", "catalog"}},
	{pkg: "bundle/scaffold", may: []string{"bundle", "catalog"}},
	{pkg: "bundle/validate", may: []string{"api/operators", "bundle", "catalog", "version"}},
	{pkg: "catalog/constraint", may: []string{"catalog", "version"}},
	{pkg: "internal/resolution", may: []string{"catalog", "resolve", "version", "api/operators", "bundle", "internal/content/image", "internal/messages"}},
	{pkg: "internal/resolution/snapshot", may: []string{"api/olm", "internal/content/catalogstore", "internal/resolution", "api/operators", "catalog", "version", "bundle", "internal/content/image"}, client: true},
	{pkg: "internal/content/image", may: []string{"api/olm", "internal/messages"}},
	{pkg: "internal/content/signature", may: []string{"catalog/safetext", "internal/messages", "internal/content/image"}},
	{pkg: "internal/content/catalogstore", may: []string{"catalog", "internal/content/image", "internal/messages", "bundle"}},
	{pkg: "internal/content/catalogserver", may: []string{"api/registry", "catalog", "internal/content/catalogstore", "internal/content/image", "internal/messages"}},
	{pkg: "internal/content/grpccatalog", may: []string{"api/registry", "catalog", "api/operators", "bundle", "internal/messages", "internal/rollout"}, client: true},
	{pkg: "internal/rollout/serving", client: true},
	{pkg: "config"},
	{pkg: "docs"},
	{pkg: "internal/packageserver", may: []string{"api", "catalog", "internal/content/catalogstore", "internal/platform", "internal/rollout"}, client: true},
	{pkg: "internal/reconcile", may: []string{"api/operators", "internal/schedule"}, client: true},
	{pkg: "internal/platform", may: []string{"catalog/safetext", "internal/messages"}},
	{pkg: "internal/metrics", may: []string{"internal/platform"}, client: true},
	{pkg: "internal/messages", may: []string{"catalog/safetext"}},
	{pkg: "internal/schedule", may: []string{"catalog/safetext"}},
	{pkg: "internal/tenancy", may: []string{"api/operators", "bundle"}},
	{pkg: "internal/rollout", may: []string{"api/operators", "catalog/safetext", "internal/messages"}, client: true},
	{pkg: "internal/ops/migrate", may: []string{"api", "internal/messages", "internal/rollout"}},
	{pkg: "internal/ops", may: append(libraries, "api", "config"), client: true},
	{pkg: "internal/rollout/revision", may: []string{"api/olm", "api/operators", "internal/messages", "internal/rollout", "version"}, client: true},
	{pkg: "internal/rollout/permissions", may: []string{"catalog/safetext", "config"}, client: true},
	{pkg: "internal/rollout/crd", may: []string{"catalog/safetext", "internal/messages"}, client: true},
	{pkg: "internal/rollout/claims", may: []string{"api/operators", "bundle", "internal/rollout", "internal/tenancy"}, client: true},
	{pkg: "internal/rollout/desired", may: []string{"api/olm", "api/operators", "bundle/registryv1", "catalog", "internal/content/bundleio", "internal/content/image", "internal/resolution", "internal/rollout/revision", "internal/schedule", "version"}},
	{pkg: "internal/content/bundleio", may: append(libraries, "api/operators", "bundle", "catalog", "internal/content/image", "api", "internal/content/catalogstore"), client: true},
	// The controllers of the v0 API know nothing of the v1 API, and those of the v1 API of the other only what they adopt from it.
	{pkg: "internal/controller", may: append(libraries, "api/operators"), client: true},
	{pkg: "internal/controller/clustercatalog", may: append(libraries, "api/olm"), client: true},
	{pkg: "internal/controller/clusterobjectset", may: append(libraries, "api/olm"), client: true},
	{pkg: "internal/controller/clusterextension", may: append(libraries, "api/olm", "api/operators", "internal/ops"), client: true},
	{pkg: "internal/controller/platform", may: append(libraries, "api/olm", "api/operators"), client: true}, // what both have installed
	{pkg: "internal/kubeconfig", may: []string{"catalog/safetext", "api", "internal/messages", "internal/rollout"}, client: true},
	{pkg: "internal/manager", may: append(libraries, "api", "internal/console", "internal/controller", "internal/kubeconfig", "internal/ops", "internal/packageserver", "internal/metrics", "internal/platform"), client: true},
	{pkg: "internal/devcluster", may: []string{"catalog/safetext", "internal/content/image", "internal/messages"}, client: true},
	{pkg: "internal/devcluster/realnode", client: true}, // the machine, and nothing of the control plane
	{pkg: "internal/ops/preview", may: append(libraries, "api/operators", "bundle", "internal/content/bundleio", "api", "internal/kubeconfig", "internal/messages"), client: true},
	{pkg: "internal/console", may: []string{"api", "catalog/safetext", "docs", "internal/kubeconfig", "internal/messages", "internal/ops"}, client: true}, // no rule that decides
	{pkg: "internal/catalogtest", may: []string{anything}, client: true},
	{pkg: "internal/demo", may: []string{anything}, client: true},
	{pkg: "internal/cli", may: []string{anything}, client: true},
	{pkg: "examples", may: []string{"examples"}, client: true},
	{pkg: "cmd/fairlead", may: []string{"internal/cli", "internal/devcluster/components"}},
	{pkg: "cmd/fairlead-release", may: []string{"internal/content/image", "internal/content/signature"}},
	{pkg: "cmd/devcluster", may: []string{"internal/devcluster/components"}},
	{pkg: "cmd/opm", may: []string{"internal/cli/authoring"}},
	{pkg: "cmd/fairlead-manager", may: []string{"internal/manager"}, client: true},
	{pkg: "internal/depcheck"},
	{pkg: "test", may: []string{anything}, client: true},
}

// libraries is what decides and does; controllers put them together.
var libraries = []string{
	"version", "resolve", "catalog", "bundle",
	"internal/content/catalogstore", "internal/content/catalogserver", "internal/resolution/snapshot", "internal/content/grpccatalog", "internal/resolution", "internal/content/image", "internal/rollout/serving", "internal/rollout", "internal/ops/migrate", "internal/platform", "internal/content/bundleio", "internal/reconcile", "internal/metrics", "internal/tenancy", "internal/content/signature", "internal/messages", "internal/schedule",
}

// reserved says who alone may import a package that is not ours.
var reserved = map[string]string{
	"k8s.io/kubernetes":                "internal/devcluster/components",
	"go.etcd.io/etcd":                  "internal/devcluster/components",
	"sigs.k8s.io/kwok":                 "internal/devcluster/components",
	"go.podman.io/image":               "internal/content/image",
	"github.com/google/cel-go":         "catalog/constraint",
	"github.com/sigstore":              "internal/content/signature",
	"github.com/prometheus/prometheus": "test/alerts",
}

// clients are the packages that can talk to a cluster.
var clients = []string{"k8s.io/client-go", "sigs.k8s.io/controller-runtime"}
