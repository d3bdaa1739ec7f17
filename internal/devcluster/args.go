package devcluster

import (
	"net"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"fairlead.dev/fairlead/internal/devcluster/realnode"
)

const (
	serviceNetwork = "10.96.0.0/16"
	// kubernetesServiceIP is the first address of the service network, which the API server gives to its own Service.
	kubernetesServiceIP = "10.96.0.1"
	podNetwork          = "10.128.0.0/9"
	// advertised is what the endpoints of Service default/kubernetes show: a documentation address, because no pod
	// really runs that could dial it, and a loopback address is not accepted.
	advertised = "192.0.2.1"
)

// Users of the client certificates.
const (
	adminUser      = "fairlead-admin"
	adminsGroup    = "system:masters"
	managerUser    = "system:kube-controller-manager"
	schedulerUser  = "system:kube-scheduler"
	simulationUser = "fairlead-simulation"
)

// omittedControllers serve clouds, volumes of real machines and bootstrap tokens, none of which exist here.
var omittedControllers = []string{
	"bootstrap-signer-controller", "token-cleaner-controller",
	"node-ipam-controller", "ttl-controller",
	"persistentvolume-attach-detach-controller", "persistentvolume-expander-controller",
	"device-taint-eviction-controller", "selinux-warning-controller",
	"legacy-serviceaccount-token-cleaner-controller",
}

// layout is where the components find what they share: the data directory, the certificates in it, the sockets and the port of the API server.
type layout struct {
	dir     dataDir
	certs   *Directory
	sockets string
	apiPort int
	// realNode is the configuration of a real node, nil with simulated ones.
	realNode *realnode.Config
}

func (l layout) socket(name string) string { return filepath.Join(l.sockets, name+".sock") }

func (l layout) apiURL() string {
	return "https://" + net.JoinHostPort(loopback, strconv.Itoa(l.apiPort))
}

// args are the arguments of all components.
func (l layout) args(throwaway bool) map[string][]string {
	return map[string][]string{
		Etcd: {
			"--data-dir=" + l.dir.path(etcdDir),
			"--client-socket=" + l.socket("etcd"),
			"--peer-socket=" + l.socket("etcd-peer"),
			"--unsafe-no-fsync=" + strconv.FormatBool(throwaway),
		},
		APIServer: slices.Concat([]string{
			"--etcd-servers=unix://" + l.socket("etcd"),
			"--bind-address=" + loopback,
			"--secure-port=" + strconv.Itoa(l.apiPort),
			"--permit-port-sharing=true",
			"--cert-dir=" + l.dir.path(pkiDir),
			"--tls-cert-file=" + l.certs.Path(ServerCert),
			"--tls-private-key-file=" + l.certs.Path(ServerKey),
			"--client-ca-file=" + l.certs.Path(CACert),
			"--anonymous-auth=false",
			"--allow-privileged=true",
			"--service-cluster-ip-range=" + serviceNetwork,
			"--service-account-issuer=https://kubernetes.default.svc",
			"--service-account-key-file=" + l.certs.Path(ServiceAccountKey),
			"--service-account-signing-key-file=" + l.certs.Path(ServiceAccountKey),
			"--requestheader-client-ca-file=" + l.certs.Path(FrontProxyCACert),
			"--requestheader-allowed-names=" + FrontProxyClientName,
			"--requestheader-username-headers=X-Remote-User",
			"--requestheader-group-headers=X-Remote-Group",
			"--requestheader-extra-headers-prefix=X-Remote-Extra-",
			"--proxy-client-cert-file=" + l.certs.Path(FrontProxyClientCert),
			"--proxy-client-key-file=" + l.certs.Path(FrontProxyClientKey),
			"--enable-aggregator-routing=true",
			"--profiling=false",
		}, l.reachingPods()),
		ControllerManager: {
			"--kubeconfig=" + l.dir.path(clientsDir, managerUser),
			"--leader-elect=false",
			"--secure-port=0",
			"--use-service-account-credentials=true",
			"--service-account-private-key-file=" + l.certs.Path(ServiceAccountKey),
			"--root-ca-file=" + l.certs.Path(CACert),
			"--cluster-signing-cert-file=" + l.certs.Path(CACert),
			"--cluster-signing-key-file=" + l.certs.Path(CAKey),
			"--controllers=*,-" + strings.Join(omittedControllers, ",-"),
			"--kube-api-qps=2000", "--kube-api-burst=4000",
			"--profiling=false",
		},
		Scheduler: {
			"--kubeconfig=" + l.dir.path(clientsDir, schedulerUser),
			"--leader-elect=false",
			"--secure-port=0",
			"--kube-api-qps=2000", "--kube-api-burst=4000",
		},
		Kwok: {
			"--kubeconfig=" + l.dir.path(clientsDir, simulationUser),
			"--pod-cidr=" + podNetwork,
		},
	}
}

// reachingPods is how the API server reaches pods and kubelet, and they it: through the tunnel, or by the network of a real node.
func (l layout) reachingPods() []string {
	if l.realNode == nil {
		return []string{
			"--advertise-address=" + advertised,
			"--authorization-mode=RBAC",
			"--egress-selector-config-file=" + l.dir.path(egressFile),
		}
	}
	return []string{
		"--advertise-address=" + realnode.Address,
		"--authorization-mode=Node,RBAC",
		"--kubelet-preferred-address-types=InternalIP", // no DNS knows the node's name
		"--kubelet-certificate-authority=" + l.certs.Path(CACert),
		"--kubelet-client-certificate=" + l.certs.Path(kubeletClientCert),
		"--kubelet-client-key=" + l.certs.Path(kubeletClientKey),
	}
}

// runtimeSettings are the Go settings of a component. The API server does most of the work of a start, and does less of it
// when its garbage collector is a little lazy. Memory limits are not set: one that the live data of a busy cluster exceeds
// makes the collector run all the time.
var runtimeSettings = map[string][]string{APIServer: {"GOGC=300"}}
