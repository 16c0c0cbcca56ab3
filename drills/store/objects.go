package store

import (
	"context"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"
)

// Objects is a bucket of a store that speaks S3, as one of its accounts.
type Objects struct {
	bucket string
	client *s3.Client
}

// ObjectsOf signs in at a store.
func ObjectsOf(url, bucket, access, secret string) *Objects {
	return &Objects{bucket, s3.New(s3.Options{BaseEndpoint: &url, UsePathStyle: true, Region: region, Credentials: credentials.NewStaticCredentialsProvider(access, secret, "")})}
}

// Put writes an object.
func (o *Objects) Put(ctx context.Context, key, text string) error {
	_, err := o.client.PutObject(ctx, &s3.PutObjectInput{Bucket: &o.bucket, Key: &key, Body: strings.NewReader(text)})
	return err
}

// SetPolicy writes the policy of the bucket.
func (o *Objects) SetPolicy(ctx context.Context, policy []byte) error {
	_, err := o.client.PutBucketPolicy(ctx, &s3.PutBucketPolicyInput{Bucket: &o.bucket, Policy: aws.String(string(policy))})
	return err
}
