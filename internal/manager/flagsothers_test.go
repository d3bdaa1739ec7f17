package manager

import (
	"bytes"
	"strings"
	"testing"
)

// TestFlagsOfTheOtherImplementation are taken with a word about what they mean here, and refused where they would be ignored at a loss.
func TestFlagsOfTheOtherImplementation(t *testing.T) {
	t.Setenv("KUBECONFIG", "/nonexistent")
	const next = "/nonexistent" // the kubeconfig is what is read next
	for flags, want := range map[string]struct{ warning, err string }{
		"--leader-elect":                                 {"--leader-elect is --leader-election here", next},
		"--leader-elect=false":                           {"--leader-elect is --leader-election here", next},
		"--health-probe-bind-address=:8081":              {"--health-probe-bind-address is --health-address here", next},
		"--metrics-bind-address=:8443 --tls-cert=a":      {"--metrics-bind-address is --metrics-address here", "--tls-cert is given without --tls-key"},
		"--metrics-bind-address=:1 --metrics-address=:2": {"", `--metrics-bind-address is --metrics-address here, and they are given different values: ":1" and ":2"`},
		"--cache-path=/var/cache/x":                      {"--cache-path is --store here", next},
		"--cache-dir=/var/cache/x":                       {"--cache-dir is --store here", next},
		"--system-namespace=olmv1-system":                {"--system-namespace is --global-namespace here", next},
		"--pull-cas-dir=/certs":                          {"--pull-cas-dir is --registry-certs here", next},
		"--catalogs-server-addr=:8443":                   {"--catalogs-server-addr is --catalog-http-address here", next},
		"--external-address=catalogs.ns.svc":             {"--external-address is --catalog-http-url here", next},
		"--catalogd-cas-dir=/certs":                      {"--catalogd-cas-dir is ignored: ", next},
		"--pprof-bind-address=:6060":                     {"--pprof-bind-address is ignored: ", next},
		"--pprof-bind-address=0":                         {"", next},
		"--gc-interval=12h":                              {"--gc-interval is ignored: ", next},
		"--webhook-server-port=9443":                     {"--webhook-server-port is ignored: ", next},
		"--tls-profile=intermediate":                     {"", next},
		"--tls-profile=modern":                           {"", next},
		"--tls-profile=fips":                             {"", "--tls-profile=fips: there is no such profile"},
		"--tls-custom-version=TLSv1.3":                   {"", "are of the profile custom"},
		"--tls-profile=custom --tls-custom-version=TLSv1.3 --tls-custom-curves=X25519MLKEM768,X25519 --tls-custom-ciphers=TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256": {"", next},
		"--tls-profile=custom --tls-custom-curves=secp256k1": {"", `--tls-custom-curves: "secp256k1" is no key exchange`},
		"--global-pull-secret=olm/pull --v=2":                {"", next},

		"--feature-gates=BoxcutterRuntime=true,DeploymentConfig=true":                    {"feature gate BoxcutterRuntime=true: always on", next},
		"--feature-gates=SingleOwnNamespaceInstallSupport=false":                         {"feature gate SingleOwnNamespaceInstallSupport=false: it cannot be switched off: ", next},
		"--feature-gates=APIV1MetasHandler=true --feature-gates=GraphQLCatalogQueries=1": {"feature gate GraphQLCatalogQueries=true: it is not there: ", next},
		"--feature-gates=GraphQLCatalogQueries=false":                                    {"", next},
		"--feature-gates=PreflightPermissions=true":                                      {"feature gate PreflightPermissions=true: always on", next},
		"--feature-gates=HelmChartSupport=true":                                          {"feature gate HelmChartSupport=true: it is not there: ", next},
		"--feature-gates=AllAlpha=true":                                                  {"feature gate AllAlpha=true: ", next},
		"--feature-gates=Nonsense=true":                                                  {"", `--feature-gates: "Nonsense" is not the name of a feature gate; those that are known are APIV1MetasHandler, `},
		"--feature-gates=BoxcutterRuntime":                                               {"", `--feature-gates: "BoxcutterRuntime" is not of the form NAME=true or NAME=false`},
		"--feature-gates=BoxcutterRuntime=perhaps":                                       {"", `--feature-gates: "BoxcutterRuntime=perhaps" is not of the form NAME=true or NAME=false`},
	} {
		var log bytes.Buffer
		cmd := New(&log, nil)
		cmd.SetArgs(strings.Fields(flags))
		cmd.SetOut(&log)
		cmd.SetErr(&log)
		cmd.SilenceErrors, cmd.SilenceUsage = true, true
		if err := cmd.ExecuteContext(t.Context()); err == nil || !strings.Contains(err.Error(), want.err) {
			t.Errorf("%s: %v, want an error about %q", flags, err, want.err)
		}
		if got := log.String(); want.warning == "" && got != "" || !strings.Contains(got, want.warning) {
			t.Errorf("%s: it is said %q, want %q", flags, got, want.warning)
		}
	}
}

// TestOtherFlagsHaveOurMeaning: a flag of another name sets ours.
func TestOtherFlagsHaveOurMeaning(t *testing.T) {
	t.Setenv("KUBECONFIG", "/nonexistent")
	cmd := New(&bytes.Buffer{}, nil)
	cmd.SetArgs(strings.Fields("--leader-elect --health-probe-bind-address=:8081 --system-namespace=s --cache-path=/c --v=3"))
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	_ = cmd.ExecuteContext(t.Context())
	for name, want := range map[string]string{"leader-election": "true", "health-address": ":8081", "global-namespace": "s", "store": "/c", "verbosity": "3"} {
		if got := cmd.Flag(name).Value.String(); got != want {
			t.Errorf("--%s is %q, want %q", name, got, want)
		}
	}
	if usage := cmd.UsageString(); strings.Contains(usage, "leader-elect ") || !strings.Contains(usage, "--leader-election") {
		t.Errorf("the help has the names of others:\n%s", usage)
	}
}
