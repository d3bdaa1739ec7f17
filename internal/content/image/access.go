package image

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/opencontainers/go-digest"
	"go.podman.io/image/v5/docker/reference"
)

// A digest is no key. Which repositories have delivered an image, and with
// which credentials, is remembered beside it, in access/<digest>. Others get it
// from the store only when such a repository says that they may read it; a
// repository that has never delivered it has to do so first, because whoever
// runs a registry may name any digest.

// accessDir holds a directory for each image of the store, in it an empty file
// for each grant, by hashes of the repository and of the credentials.
const accessDir = "access"

// grants remember who has read which image of a store.
type grants struct{ directory }

// maxGrants bounds what is remembered of one image: there are credentials that
// change every hour.
const maxGrants = 64

// hostIdentity is that of everybody whose own credentials say nothing of a
// repository: they read with those of the host, or without any.
const hostIdentity = "host"

// identity tells the credentials for a repository apart, for this process only.
func (c credentials) identity(named reference.Named) (string, error) {
	auth, own := c.lookup(named)
	if !own {
		return hostIdentity, nil
	}
	data, err := json.Marshal(auth)
	return string(data), err
}

// repositoryHash begins the names of all grants of a repository.
func (e endpoint) repositoryHash() string { return hash(e.named.Name())[:32] }

func (e endpoint) grantName(identity string) string {
	return e.repositoryHash() + "-" + hash(e.named.Name()+" "+identity)
}

func hash(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:])
}

// mayRead tells whether who asks may have what the store holds of an image.
// Said, when set, is the endpoint that has just named its digest.
func (g grants) mayRead(ctx context.Context, d digest.Digest, said *endpoint, endpoints []endpoint, limits Limits) bool {
	for _, e := range endpoints {
		if g.granted(d, e) {
			return true
		}
	}
	if said != nil {
		return g.delivered(d, *said) && g.grant(d, *said)
	}
	for _, e := range endpoints {
		if g.delivered(d, e) && confirms(ctx, e, d, limits) {
			return g.grant(d, e)
		}
	}
	return false
}

// confirms asks an endpoint whether it has the image for these credentials. Why
// not is said by the attempt to read it from there, which is next.
func confirms(ctx context.Context, e endpoint, d digest.Digest, limits Limits) bool {
	w := newWatch(ctx, limits.Stall)
	defer w.stop()
	found, err := ask(w, e)
	return err == nil && found == d
}

// granted tells whether these credentials have read the image there before.
func (g grants) granted(d digest.Digest, e endpoint) bool {
	for _, identity := range []string{e.identity, hostIdentity} {
		path := filepath.Join(g.path(accessDir, d), e.grantName(identity))
		if _, err := os.Stat(path); err == nil {
			touch(path)
			return true
		}
	}
	return false
}

// delivered tells whether the repository has once delivered the image.
func (g grants) delivered(d digest.Digest, e endpoint) bool {
	entries, _ := os.ReadDir(g.path(accessDir, d)) // where nothing can be read nothing is known
	return slices.ContainsFunc(entries, func(each os.DirEntry) bool { return strings.HasPrefix(each.Name(), e.repositoryHash()+"-") })
}

// grant remembers access. What cannot be remembered is asked for again.
func (g grants) grant(d digest.Digest, e endpoint) bool {
	dir := g.path(accessDir, d)
	forgetOldest(dir)
	if os.MkdirAll(dir, 0o700) == nil {
		_ = os.WriteFile(filepath.Join(dir, e.grantName(e.identity)), nil, 0o600)
	}
	return true
}

// forgetOldest makes room for one grant.
func forgetOldest(dir string) {
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) < maxGrants {
		return
	}
	used := func(e os.DirEntry) time.Time {
		info, err := e.Info()
		if err != nil {
			return time.Time{}
		}
		return info.ModTime()
	}
	slices.SortFunc(entries, func(a, b os.DirEntry) int { return used(a).Compare(used(b)) })
	for _, e := range entries[:len(entries)-maxGrants+1] {
		_ = os.Remove(filepath.Join(dir, e.Name()))
	}
}

// removeOrphans forgets who had access to images that are gone.
func (g grants) removeOrphans() {
	entries, err := os.ReadDir(filepath.Join(string(g.directory), accessDir))
	if err != nil {
		return
	}
	for _, entry := range entries {
		d := digest.Digest(strings.Replace(entry.Name(), "-", ":", 1))
		if _, err := os.Stat(g.path(imagesDir, d)); os.IsNotExist(err) {
			_ = os.RemoveAll(filepath.Join(string(g.directory), accessDir, entry.Name()))
		}
	}
}
