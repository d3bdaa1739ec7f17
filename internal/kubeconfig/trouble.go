package kubeconfig

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"
	"syscall"

	"k8s.io/client-go/tools/clientcmd"

	"fairlead.dev/fairlead/internal/messages"
)

// maxTextSize is how much is printed of what is wrong with a file.
const maxTextSize = 200

// unreadable tells which file there is no cluster in because it is missing or is no kubeconfig; nil when it is neither.
func (f *Flags) unreadable() error {
	named := f.path
	files := f.Files()
	if named == "" && len(files) == 1 && os.Getenv(clientcmd.RecommendedConfigPathEnvVar) != "" {
		named = files[0]
	}
	for _, file := range files {
		_, err := os.Stat(file)
		if errors.Is(err, os.ErrNotExist) {
			if file == named {
				return fmt.Errorf("read kubeconfig %s: there is no such file; correct --kubeconfig or $%s, or start a cluster with: fairlead cluster start",
					file, clientcmd.RecommendedConfigPathEnvVar)
			}
			continue
		}
		if err == nil {
			_, err = clientcmd.LoadFromFile(file)
		}
		if err != nil {
			return fmt.Errorf("read kubeconfig %s: %s; name a kubeconfig with --kubeconfig", file, plain(err))
		}
	}
	return nil
}

// plain is what is wrong with a file, without what it holds: that may be anything, and secret.
func plain(err error) string {
	var path *os.PathError
	if errors.As(err, &path) {
		return path.Err.Error()
	}
	text, _, _ := strings.Cut(err.Error(), "\n")
	if strings.Contains(text, "struct {") || strings.Contains(text, "Go value") || strings.Contains(text, "couldn't get version/kind") {
		return "it is not a kubeconfig"
	}
	return "it is not a kubeconfig: " + messages.Truncate(text, maxTextSize)
}

// Explain says what to do about a cluster that nobody answers for.
func Explain(err error) error {
	var failed *url.Error
	if !errors.As(err, &failed) || !errors.Is(err, syscall.ECONNREFUSED) {
		return err
	}
	at := failed.URL
	if u, parsed := url.Parse(failed.URL); parsed == nil {
		at = u.Host
	}
	return fmt.Errorf("%w; nothing answers at %s: start the cluster, or name another one with --kubeconfig or --context", err, at)
}
