package realnode

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
)

// pauseCode is the program of the container that holds a pod's namespaces, for amd64. It tells the kernel that it does not care for ended children,
// so that they need no one to wait for them, and sleeps for good:
//
//	sigaction(SIGCHLD, {SIG_IGN}, NULL, 8); for (;;) pause();
//
// A compiled program would need a compiler on the user's machine, and take a thousand times the memory in every pod.
var pauseCode = []byte{
	0xb8, 13, 0, 0, 0, //                mov eax, rt_sigaction
	0xbf, 17, 0, 0, 0, //                mov edi, SIGCHLD
	0x48, 0x8d, 0x35, 19, 0, 0, 0, //    lea rsi, [rip+19]: the 32 bytes behind the code
	0x31, 0xd2, //                       xor edx, edx
	0x41, 0xba, 8, 0, 0, 0, //           mov r10d, 8
	0x0f, 0x05, //                       syscall
	0xb8, 34, 0, 0, 0, //                mov eax, pause
	0x0f, 0x05, //                       syscall
	0xeb, 0xf7, //                       jmp to the mov before
	1, 0, 0, 0, 0, 0, 0, 0, // handler: SIG_IGN
	0, 0, 0, 0, 0, 0, 0, 0, // flags
	0, 0, 0, 0, 0, 0, 0, 0, // restorer
	0, 0, 0, 0, 0, 0, 0, 0, // mask
}

// pauseProgram is an ELF file with one segment.
func pauseProgram() []byte {
	const base, headers = 0x400000, 64 + 56
	size := uint64(headers + len(pauseCode))
	var b bytes.Buffer
	b.Write([]byte{0x7f, 'E', 'L', 'F', 2, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0}) // 64 bits, little endian
	for _, field := range []any{
		uint16(2), uint16(62), uint32(1), // executable, x86-64
		uint64(base + headers), uint64(64), uint64(0), // entry, program headers, no sections
		uint32(0), uint16(64), uint16(56), uint16(1), uint16(0), uint16(0), uint16(0),
		uint32(1), uint32(5), // load, to be read and executed
		uint64(0), uint64(base), uint64(base), size, size, uint64(0x1000),
	} {
		_ = binary.Write(&b, binary.LittleEndian, field) // a buffer takes everything
	}
	b.Write(pauseCode)
	return b.Bytes()
}

// writePauseImage writes an OCI archive for ctr to import.
func writePauseImage(path string) error {
	layer, err := archive(map[string][]byte{"pause": pauseProgram()}, 0o755)
	if err != nil {
		return fmt.Errorf("make the pause image: %w", err)
	}
	files := map[string][]byte{"oci-layout": []byte(`{"imageLayoutVersion":"1.0.0"}`)}
	blob := func(mediaType string, content []byte) object {
		sum := sha256.Sum256(content)
		digest := hex.EncodeToString(sum[:])
		files["blobs/sha256/"+digest] = content
		return object{"mediaType": mediaType, "digest": "sha256:" + digest, "size": len(content)}
	}
	layerBlob := blob("application/vnd.oci.image.layer.v1.tar", layer)
	config, err := json.Marshal(object{
		"architecture": "amd64", "os": "linux",
		"config": object{"Entrypoint": []string{"/pause"}, "User": "65535:65535"},
		"rootfs": object{"type": "layers", "diff_ids": []any{layerBlob["digest"]}},
	})
	if err != nil {
		return err
	}
	manifest, err := json.Marshal(object{
		"schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json",
		"config": blob("application/vnd.oci.image.config.v1+json", config), "layers": []object{layerBlob},
	})
	if err != nil {
		return err
	}
	entry := blob("application/vnd.oci.image.manifest.v1+json", manifest)
	entry["annotations"] = object{"io.containerd.image.name": PauseImage}
	if files["index.json"], err = json.Marshal(object{"schemaVersion": 2, "manifests": []object{entry}}); err != nil {
		return err
	}
	image, err := archive(files, 0o644)
	if err != nil {
		return fmt.Errorf("make the pause image: %w", err)
	}
	if err := os.WriteFile(path, image, 0o600); err != nil {
		return fmt.Errorf("make the pause image: %w", err)
	}
	return nil
}

func archive(files map[string][]byte, mode int64) ([]byte, error) {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for name, content := range files {
		if err := w.WriteHeader(&tar.Header{Name: name, Mode: mode, Size: int64(len(content))}); err != nil {
			return nil, err
		}
		if _, err := w.Write(content); err != nil {
			return nil, err
		}
	}
	err := w.Close()
	return b.Bytes(), err
}
