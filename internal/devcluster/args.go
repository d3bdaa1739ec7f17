package devcluster

import (
	"strconv"
	"strings"
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

func (c *Cluster) etcdArgs() []string {
	return []string{
		"--data-dir=" + c.dir.etcd(),
		"--client-socket=" + c.socket("etcd"),
		"--peer-socket=" + c.socket("etcd-peer"),
		"--unsafe-no-fsync=" + strconv.FormatBool(c.opts.Throwaway),
	}
}

func (c *Cluster) apiServerArgs() []string {
	return []string{
		"--etcd-servers=unix://" + c.socket("etcd"),
		"--bind-address=" + loopback,
		"--secure-port=" + strconv.Itoa(c.apiPort.number),
		"--permit-port-sharing=true",
		"--advertise-address=" + advertised,
		"--cert-dir=" + c.dir.pki(),
		"--tls-cert-file=" + c.certs.Path(ServerCert),
		"--tls-private-key-file=" + c.certs.Path(ServerKey),
		"--client-ca-file=" + c.certs.Path(CACert),
		"--anonymous-auth=false",
		"--authorization-mode=RBAC",
		"--allow-privileged=true",
		"--service-cluster-ip-range=" + serviceNetwork,
		"--service-account-issuer=https://kubernetes.default.svc",
		"--service-account-key-file=" + c.certs.Path(ServiceAccountKey),
		"--service-account-signing-key-file=" + c.certs.Path(ServiceAccountKey),
		"--requestheader-client-ca-file=" + c.certs.Path(FrontProxyCACert),
		"--requestheader-allowed-names=" + FrontProxyClientName,
		"--requestheader-username-headers=X-Remote-User",
		"--requestheader-group-headers=X-Remote-Group",
		"--requestheader-extra-headers-prefix=X-Remote-Extra-",
		"--proxy-client-cert-file=" + c.certs.Path(FrontProxyClientCert),
		"--proxy-client-key-file=" + c.certs.Path(FrontProxyClientKey),
		"--enable-aggregator-routing=true",
		"--egress-selector-config-file=" + c.dir.egress(),
		"--profiling=false",
	}
}

func (c *Cluster) controllerManagerArgs() []string {
	return []string{
		"--kubeconfig=" + c.dir.clientConfig(managerUser),
		"--leader-elect=false",
		"--secure-port=0",
		"--use-service-account-credentials=true",
		"--service-account-private-key-file=" + c.certs.Path(ServiceAccountKey),
		"--root-ca-file=" + c.certs.Path(CACert),
		"--cluster-signing-cert-file=" + c.certs.Path(CACert),
		"--cluster-signing-key-file=" + c.certs.Path(CAKey),
		"--controllers=*,-" + strings.Join(omittedControllers, ",-"),
		"--kube-api-qps=2000", "--kube-api-burst=4000",
		"--profiling=false",
	}
}

func (c *Cluster) schedulerArgs() []string {
	return []string{
		"--kubeconfig=" + c.dir.clientConfig(schedulerUser),
		"--leader-elect=false",
		"--secure-port=0",
		"--kube-api-qps=2000", "--kube-api-burst=4000",
	}
}

// runtimeSettings are the Go settings of a component. The API server does most of the work of a start, and does less of it
// when its garbage collector is a little lazy. Memory limits are not set: one that the live data of a busy cluster exceeds
// makes the collector run all the time.
var runtimeSettings = map[string][]string{APIServer: {"GOGC=300"}}
