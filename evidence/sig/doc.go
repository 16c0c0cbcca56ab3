// Package sig reads and makes what proves who agreed to a text and when it existed: SSH signatures (SSHSIG), the file that says whose
// signature counts, and time stamps (RFC 3161). It knows no bundle; the texts come from its users. Each thing has one form, so that
// nothing about it can be changed and still pass. What follows is that form.
//
// # Signatures
//
// A signature is an SSHSIG (OpenSSH, PROTOCOL.sshsig) of a text, hash sha512 or sha256, nothing reserved, by a plain key: ssh-ed25519,
// ecdsa-sha2-nistp256, -384, -521, RSA of 2048 bits or more with rsa-sha2-512 or -256, sk-ssh-ed25519@openssh.com,
// sk-ecdsa-sha2-nistp256@openssh.com; that of a hardware key (sk-) with the flag that it was touched. It has the form of
// ssh-keygen: lines of 70 characters, canonical base64, no byte before, between or after; integers without needless zeros; an RSA
// signature as long as its modulus.
//
// Its namespace says what it is for, and one that was made for one thing does not pass as another: seal-v1@handrail for the checkpoint
// of a seal, approve-v1@handrail for an approval.
//
// # Allowed signers
//
// Whose signature counts is in an allowed_signers file (ssh-keygen(1)): principals as patterns, the options namespaces, valid-after and
// valid-before, a key. A line with cert-authority is read and allows no one; any other option, and any line that is not understood
// whole, is an error of the file. The time that counts is the caller's to say.
//
// # Time stamps
//
// A time stamp is the reply of an authority (RFC 3161, TimeStampResp) in DER. Its signature covers neither the status nor all of the
// token, so it has one form, which a reader makes again from what it read and compares:
//
//	status          granted, without text or failure
//	SignedData      version 3; one digest algorithm, that of the signer; content TSTInfo; certificates; no revocation
//	                lists; one signer
//	certificates    the signer's and, as far as the reply had them, who issued it and so on, sorted by their bytes; no others
//	signer          version 1, named by issuer and serial; no unsigned attributes
//	algorithms      hashes SHA-256, -384, -512, without parameters; signatures rsaEncryption with NULL (2048 bits or
//	                more), ecdsa-with-SHA2 of the same hash or Ed25519 with SHA-512, without parameters
//
// Signed attributes, none twice: the content type is TSTInfo, the message digest that of the content, and each signing
// certificate (ESSCertID by SHA-1, or ESSCertIDv2) is that of the signer. The TSTInfo is of version 1, of SHA-256, -384
// or -512, of a time in UTC without zeros behind the point, and has no critical extension. The signer's certificate is for
// time stamps and nothing else (extended key usage, critical), for signatures when it has a key usage, and valid at the
// stated time. No certificate has an RSA key over 8192 bits; there are at most 16, and 64 KiB in all.
//
// Authorities are roots that the caller brought along. They vouch for a time stamp whose signer leads to one of them by the
// certificates in it, at the stated time and for time stamps.
package sig
