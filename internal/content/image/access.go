package image

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/opencontainers/go-digest"
)

// A digest is no key. Which repositories have delivered an image, and with
// which credentials, is remembered beside it, in access/<digest>. Others get it
// from the store only when such a repository says that they may read it; a
// repository that has never delivered it has to do so first, because the one who
// runs a registry may name any digest.

// accessDir holds a directory for each image of the store, in it an empty file
// for each grant, by hashes of the repository and of the credentials.
const accessDir = "access"

// maxGrants bounds what is remembered of one image: there are credentials that
// change every hour.
const maxGrants = 64

// hostIdentity is that of everybody whose own credentials say nothing of a
// repository: they read with those of the host, or without any.
const hostIdentity = "host"

// grantName begins with the hash of the repository, the same for all grants of it.
func (e endpoint) grantName(identity string) string {
	name := e.named.Name()
	return digest.FromString(name).Encoded()[:32] + "-" + digest.FromString(name+" "+identity).Encoded()
}

// mayRead tells whether who asks may have what the store holds of an image.
// Said, when set, is the endpoint that has just named its digest.
func (in directory) mayRead(ctx context.Context, d digest.Digest, said *endpoint, endpoints []endpoint, limits Limits) bool {
	for _, e := range endpoints {
		// These credentials may have read the image there before.
		for _, identity := range []string{e.identity, hostIdentity} {
			path := filepath.Join(in.path(accessDir, d), e.grantName(identity))
			if _, err := os.Stat(path); err == nil {
				touch(path)
				return true
			}
		}
	}
	if said != nil {
		if !in.delivered(d, *said) {
			return false
		}
		in.grant(d, *said)
		return true
	}
	for _, e := range endpoints {
		if !in.delivered(d, e) {
			continue
		}
		// Ask whether it has the image for these credentials. Why not is said by the attempt to read it from there, which is next.
		w := newWatch(ctx, limits.Stall)
		found, err := ask(w, e)
		w.stop()
		if err == nil && found == d {
			in.grant(d, e)
			return true
		}
	}
	return false
}

// delivered tells whether the repository has once delivered the image.
func (in directory) delivered(d digest.Digest, e endpoint) bool {
	entries, _ := os.ReadDir(in.path(accessDir, d)) // where nothing can be read nothing is known
	repository, _, _ := strings.Cut(e.grantName(""), "-")
	return slices.ContainsFunc(entries, func(each os.DirEntry) bool { return strings.HasPrefix(each.Name(), repository+"-") })
}

// grant remembers access, and forgets the oldest to make room. What cannot be
// remembered is asked for again.
func (in directory) grant(d digest.Digest, e endpoint) {
	dir := in.path(accessDir, d)
	if entries, err := os.ReadDir(dir); err == nil && len(entries) >= maxGrants {
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
	if os.MkdirAll(dir, 0o700) == nil {
		_ = os.WriteFile(filepath.Join(dir, e.grantName(e.identity)), nil, 0o600)
	}
}

// removeGrants forgets who had access to images that are gone.
func (in directory) removeGrants() {
	entries, err := os.ReadDir(filepath.Join(string(in), accessDir))
	if err != nil {
		return
	}
	for _, entry := range entries {
		d := digest.Digest(strings.Replace(entry.Name(), "-", ":", 1))
		if _, err := os.Stat(in.path(imagesDir, d)); os.IsNotExist(err) {
			_ = os.RemoveAll(filepath.Join(string(in), accessDir, entry.Name()))
		}
	}
}
