package manager

import (
	"os"
	"slices"

	"fairlead.dev/fairlead/internal/content/bundleio"
	"fairlead.dev/fairlead/internal/controller/clustercatalog"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/manager"
)

// accountVariable of the environment names the ServiceAccount of the manager's pod.
const accountVariable = "POD_SERVICE_ACCOUNT"

// clusterWide reports whether the manager reconciles the kinds of the v1 API, which have no namespace. One that is limited to namespaces leaves
// them to another.
func (o Options) clusterWide() bool { return len(o.Namespaces) == 0 && !o.WithoutV1 }

// credentials are those for images that no object names any for.
func (o Options) credentials() bundleio.Credentials {
	c := bundleio.Credentials{Secret: o.GlobalPullSecret}
	if namespace, account := os.Getenv(podNamespaceVariable), os.Getenv(accountVariable); namespace != "" && account != "" {
		c.Account = types.NamespacedName{Namespace: namespace, Name: account}
	}
	return c
}

// addClusterCatalogs adds the controller of ClusterCatalogs, which runs in every manager.
func addClusterCatalogs(mgr manager.Manager, o Options, s stores, c clock.Clock) error {
	if !o.clusterWide() {
		return nil
	}
	return clustercatalog.Setup(mgr, clustercatalog.Options{Store: s.contents, Indexes: s.indexes, Catalogs: s.clusterCatalogs,
		Serving: s.http.toController(), Credentials: o.credentials(), InUse: s.inUse, Clock: c, Policies: s.policies})
}

// inUse tells whether content is served, by its digest.
func (s stores) inUse(digest string) bool { return slices.Contains(s.digests(), digest) }

// digests are those of all contents that are served.
func (s stores) digests() []string {
	return slices.Concat(s.catalogs.Digests(), s.standby.Digests(), s.clusterCatalogs.Digests())
}
