"""Names of software, and nouns of texts about it, that a statistical reader takes for names.

Many are names of people, companies, places or everyday words too. `tools` holds what is certain in
any text, and so leaves them out; here they only say what a name that was read as somebody's is not.
"""

from typing import Final

_NAMES: Final = """
actix aerospike algolia alpine amplify anaconda android angular ansi ant apache apollo appium arch
argo arm arrow artifactory asana astro athena aurora auth0 ava avro babel backbone bamboo bash
beam bitrise blazor bokeh boost boot bootstrap bottle bower buck bun bundler caddy cairn
capistrano capybara centos chai chakra chef chrome chromium cilium clang clojure cloudinary cmake
codex cognito composer conan conda confluence consul contentful copilot cosmos couchbase couchdb
crystal css csv cucumber cursor cypress cython dart databricks datagrip debian deno dependabot
devise discord doctrine docusaurus dragonfly dramatiq drizzle drone druid drupal duckdb eclipse
ecto edge electron elixir elm eloquent emacs ember envoy enzyme erlang esbuild excel expo express
falcon fargate fastify fedora figma firefox firestore flask flow fluentd flutter flux flyway
fortify fortran gatsby gemini gerrit gherkin ghost gitea glue gnome gradle grails groovy grunt
guava guice gulp hadoop hanami harbor haskell hazelcast hive homebrew html hudson huey hugo ignite
impala influx influxdb insomnia intellij ionic ios jackson jaeger jasmine java jekyll jest jetty
jinja joomla jquery json julia jupyter karma karpenter keras keycloak kinesis kingfisher knative
knex koa kong kustomize lambda lerna less linear linkerd linode linux liquibase llama locust loki
lombok looker lua lucene lucid macos magento make mantine mariner markdown maven meilisearch
mercurial metabase meteor micronaut minikube minio mobx mocha mockito mongoose mustache nagios
ndjson neo4j neptune netlify netty next nexus nim nomad notion nuget nunit nuxt objective obsidian
octave ollama opera oracle outlook packer pagerduty parcel parquet passenger passport perforce
perl phoenix php pika pinia pinot poetry polars postfix postman powershell preact presto prettier
prisma pulsar puma puppet puppeteer pycharm pylint pyramid qt quarkus quartz rack rails rake
raspbian react redmine redux relay remix renovate resque riak rollup rspec rubocop ruby rust
safari salt samba samza sanic sass scala scikit scipy scrapy scylla sdk selenium sequelize
serverless shopify sidekiq signalr sinatra sketch slack snowflake snowpack snyk solaris solid
solidity solr sonar sonarqube sonatype spark sphinx splunk spring sql starlette storm storybook
struts stylus sublime subversion supabase svelte svn swagger swift symfony tableau tapestry tempo
terragrunt thrift timescale tomcat toml tornado trac travis trello trino trivy turbo twig twilio
ubuntu unicorn unity vagrant vault vector velero vercel vim visual vscode vue vuex wildfly windows
wordpress xamarin xcode xen xml yaml yarn yii zabbix zed zig zipkin zoom zsh
"""
SOFTWARE: Final = frozenset(_NAMES.split())
_WORDS: Final = """
action address admin agent alias app array attribute audience backend bucket bug cache caller
capability category channel cluster code column command commit component config configuration
connection constraint container context controller cookie counter credential cursor daemon
dashboard data database dataset date default dependency deployment developer directory document
domain edge embedding endpoint engine entity environment error event example exception expression
feature field filter folder footer form format formula friday frontend function gateway handler
hash header heading history hook icon identifier image index infrastructure input instance
integration interface item job journal kernel keyword label latency layer layout ledger library
limit line link list loader locale location log logic login loop machine maintenance manager
mapping memory menu message metadata method metric middleware migration mode model module monday
monitor name namespace network node note notice notification number object observer offset
operator option order organization outbox output owner package page paging parameter parser part
password path pattern payload permission person phase pipeline plan platform plugin pointer policy
port preference prefix process product production profile program project prompt property protocol
provider proxy query queue ratio reader reason receipt record region registry release repository
request resource response result retention reviewer role router row rule runner saturday scheduler
schema scope script secret section segment selector sentence server service session setting
signature site socket source staging state statement status step storage strategy string style
subject summary sunday support surface symbol syntax system table tag task team template tenant
test text theme thread threshold thursday ticket time timeline timeout timestamp token tool topic
trace traffic transaction trigger tuesday tuple turn type unit user username utility validator
value variable vector vendor version view viewer volume wednesday weight widget window worker
workflow workspace
"""
COMMON: Final = frozenset(_WORDS.split())  # nouns of texts about software that begin sentences
