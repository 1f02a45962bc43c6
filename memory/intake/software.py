"""Names of software that are names of people, companies, places or everyday words too (a table).

A statistical reader takes them for those. `tools` holds what is certain in any text, and so leaves
them out; here they only say what a name that was read as somebody's is not (spec 2.6).
"""

from typing import Final

_NAMES: Final = """
actix aerospike algolia alpine amplify anaconda android angular ansi ant apache apollo appium arch
argo arm arrow artifactory asana astro athena aurora auth0 ava avro babel backbone bamboo bash
beam bitrise blazor bokeh boost boot bootstrap bottle bower buck bun bundler caddy capistrano
capybara centos chai chakra chef chrome chromium cilium clang clojure cloudinary cmake codex
cognito composer conan conda confluence consul contentful copilot cosmos couchbase couchdb crystal
cucumber cursor cypress cython dart databricks datagrip debian deno dependabot devise discord
doctrine docusaurus dragonfly dramatiq drizzle drone druid drupal duckdb eclipse ecto edge
electron elixir elm eloquent emacs ember envoy enzyme erlang esbuild excel expo express falcon
fargate fastify fedora figma firefox firestore flask flow fluentd flutter flux flyway fortify
fortran gatsby gemini gerrit gherkin ghost gitea glue gnome gradle grails groovy grunt guava guice
gulp hadoop hanami harbor haskell hazelcast hive homebrew hudson huey hugo ignite impala influx
influxdb insomnia intellij ionic ios jackson jaeger jasmine java jekyll jest jetty jinja joomla
jquery julia jupyter karma karpenter keras keycloak kinesis knative knex koa kong kustomize lambda
lerna less linear linkerd linode linux liquibase llama locust loki lombok looker lua lucene lucid
macos magento make mantine mariner maven meilisearch mercurial metabase meteor micronaut minikube
minio mobx mocha mockito mongoose mustache nagios neo4j neptune netlify netty next nexus nim nomad
notion nuget nunit nuxt objective octave ollama opera oracle outlook packer pagerduty parcel
parquet passenger passport perforce perl phoenix php pika pinia pinot poetry polars postfix
postman powershell preact presto prettier prisma pulsar puma puppet puppeteer pycharm pylint
pyramid qt quarkus quartz rack rails rake raspbian react redmine redux relay remix renovate resque
riak rollup rspec rubocop ruby rust safari salt samba samza sanic sass scala scikit scipy scrapy
scylla selenium sequelize serverless shopify sidekiq signalr sinatra sketch slack snowflake
snowpack snyk solaris solid solidity solr sonar sonarqube sonatype spark sphinx splunk spring
starlette storm storybook struts stylus sublime subversion supabase svelte svn swagger swift
symfony tableau tapestry tempo terragrunt thrift timescale tomcat tornado trac travis trello trino
trivy turbo twig twilio ubuntu unicorn unity vagrant vault vector velero vercel vim visual vscode
vue vuex wildfly windows wordpress xamarin xcode xen yarn yii zabbix zed zig zipkin zoom zsh
"""
SOFTWARE: Final = frozenset(_NAMES.split())
