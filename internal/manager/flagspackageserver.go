package manager

import (
	"github.com/spf13/pflag"
)

// addPackageServerFlags adds the flags of the PackageManifest API.
func addPackageServerFlags(flags *pflag.FlagSet, p *PackageServer) {
	flags.StringVar(&p.Address, "package-address", "",
		"host:port to serve PackageManifests on, 0 for none (default: :5443 in a pod with POD_IP set, loopback on an embedded cluster, else none)")
	flags.StringVar(&p.Advertise, "package-advertise-address", "",
		"IP:port by which the API server reaches package-address (default: POD_IP and the port of package-address)")
	flags.StringVar(&p.Namespace, "package-namespace", "",
		"namespace of the Service and the certificate of the PackageManifest API (default: that of the pod, else global-namespace)")
}
