BEGIN TRANSACTION;
CREATE TABLE alembic_version (
	version_num VARCHAR(32) NOT NULL, 
	CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)
);
INSERT INTO "alembic_version" VALUES('0002');
CREATE TABLE decisions (
	id INTEGER NOT NULL, 
	rater VARCHAR NOT NULL, 
	about VARCHAR NOT NULL, 
	verdict VARCHAR NOT NULL, 
	reason TEXT NOT NULL, 
	"by" VARCHAR NOT NULL, 
	time BIGINT NOT NULL, 
	CONSTRAINT decisions_key PRIMARY KEY (id), 
	CONSTRAINT decisions_decisions_known_about CHECK (about IN ('estimate', 'payment')), 
	CONSTRAINT decisions_decisions_known_by CHECK ("by" IN ('rule', 'admin')), 
	CONSTRAINT decisions_rater_raters FOREIGN KEY(rater) REFERENCES raters (id)
);
CREATE TABLE leases (
	id VARCHAR NOT NULL, 
	slot INTEGER NOT NULL, 
	unit INTEGER NOT NULL, 
	rater VARCHAR NOT NULL, 
	session VARCHAR NOT NULL, 
	started BIGINT NOT NULL, 
	draft TEXT, 
	active_ms BIGINT DEFAULT 0 NOT NULL, 
	CONSTRAINT leases_key PRIMARY KEY (id), 
	CONSTRAINT leases_rater_raters FOREIGN KEY(rater) REFERENCES raters (id), 
	CONSTRAINT leases_session_sessions FOREIGN KEY(session) REFERENCES sessions (id), 
	CONSTRAINT leases_slot_slots FOREIGN KEY(slot) REFERENCES slots (id), 
	CONSTRAINT leases_unit_units FOREIGN KEY(unit) REFERENCES units (id)
);
INSERT INTO "leases" VALUES('tDaDl7loaxOP60m_RyH1Dw',3,3,'XuZ8eLMOgZ3WB7CBSZDXfg','mKqfIeY0UhQXWpAXgbUamw',1800000000000,NULL,0);
INSERT INTO "leases" VALUES('idWoAJg_Dl6tjFU87zXoUw',1,1,'XuZ8eLMOgZ3WB7CBSZDXfg','mKqfIeY0UhQXWpAXgbUamw',1800000000000,NULL,0);
CREATE TABLE ledger (
	id INTEGER NOT NULL, 
	rater VARCHAR NOT NULL, 
	kind VARCHAR NOT NULL, 
	amount BIGINT NOT NULL, 
	time BIGINT NOT NULL, 
	submission INTEGER, 
	reference VARCHAR, 
	CONSTRAINT ledger_key PRIMARY KEY (id), 
	CONSTRAINT ledger_ledger_known_kind CHECK (kind IN ('judgment', 'bonus')), 
	CONSTRAINT ledger_rater_raters FOREIGN KEY(rater) REFERENCES raters (id), 
	CONSTRAINT ledger_submission_submissions FOREIGN KEY(submission) REFERENCES submissions (id), 
	CONSTRAINT ledger_submission UNIQUE (submission)
);
INSERT INTO "ledger" VALUES(1,'XuZ8eLMOgZ3WB7CBSZDXfg','judgment',0,1800000000000,1,NULL);
INSERT INTO "ledger" VALUES(2,'XuZ8eLMOgZ3WB7CBSZDXfg','judgment',0,1800000000000,2,NULL);
CREATE TABLE raters (
	number INTEGER NOT NULL, 
	id VARCHAR NOT NULL, 
	panel VARCHAR NOT NULL, 
	external_id VARCHAR NOT NULL, 
	joined BIGINT NOT NULL, 
	excluded BOOLEAN DEFAULT 0 NOT NULL, 
	CONSTRAINT raters_key PRIMARY KEY (number), 
	CONSTRAINT raters_id UNIQUE (id)
);
INSERT INTO "raters" VALUES(1,'XuZ8eLMOgZ3WB7CBSZDXfg','invitation','ann',1800000000000,0);
CREATE TABLE sessions (
	id VARCHAR NOT NULL, 
	rater VARCHAR NOT NULL, 
	panel_session VARCHAR NOT NULL, 
	parameters TEXT NOT NULL, 
	opened BIGINT NOT NULL, 
	done INTEGER DEFAULT 0 NOT NULL, 
	CONSTRAINT sessions_key PRIMARY KEY (id), 
	CONSTRAINT sessions_rater_raters FOREIGN KEY(rater) REFERENCES raters (id)
);
INSERT INTO "sessions" VALUES('mKqfIeY0UhQXWpAXgbUamw','XuZ8eLMOgZ3WB7CBSZDXfg','invitation','{}',1800000000000,2);
CREATE TABLE settings (
	id INTEGER NOT NULL, 
	fingerprint VARCHAR NOT NULL, 
	secret VARCHAR NOT NULL, 
	state VARCHAR NOT NULL, 
	half_width FLOAT, 
	budget BIGINT, 
	sample_size INTEGER NOT NULL, 
	judgments_per_output INTEGER NOT NULL, 
	session_judgments INTEGER, 
	gold_every INTEGER, 
	mirrored TEXT NOT NULL, 
	revision INTEGER NOT NULL, 
	created BIGINT NOT NULL, 
	changed BIGINT NOT NULL, declared TEXT, met_half_width FLOAT, 
	CONSTRAINT settings_key PRIMARY KEY (id), 
	CONSTRAINT settings_settings_known_state CHECK (state IN ('running', 'paused', 'stopped')), 
	CONSTRAINT settings_settings_single CHECK (id = 1)
);
INSERT INTO "settings" VALUES(1,'a9c5e01fa759896409cdfbdaff3e49b4f9e7d6d47c7ad5d33edfc239de7c926d','fICY74dJkHea3sr9GtVtjgdgmxczmE1B78ktlT_PzEQ','running',NULL,NULL,4,1,NULL,NULL,'[]',2,1800000000000,1800000000000,'{"half_width": null, "budget": null}',NULL);
CREATE TABLE slots (
	id INTEGER NOT NULL, 
	unit INTEGER NOT NULL, 
	position INTEGER NOT NULL, 
	salt BIGINT NOT NULL, 
	kind VARCHAR NOT NULL, 
	done BOOLEAN DEFAULT 0 NOT NULL, 
	offered BOOLEAN DEFAULT 1 NOT NULL, 
	lease VARCHAR, 
	rater VARCHAR, 
	expires BIGINT DEFAULT 0 NOT NULL, 
	CONSTRAINT slots_key PRIMARY KEY (id), 
	CONSTRAINT slots_slots_known_kind CHECK (kind IN ('wanted', 'replacement', 'gold')), 
	CONSTRAINT slots_rater_raters FOREIGN KEY(rater) REFERENCES raters (id), 
	CONSTRAINT slots_unit_units FOREIGN KEY(unit) REFERENCES units (id)
);
INSERT INTO "slots" VALUES(1,1,1,749079321,'wanted',1,1,'idWoAJg_Dl6tjFU87zXoUw','XuZ8eLMOgZ3WB7CBSZDXfg',1800001800000);
INSERT INTO "slots" VALUES(2,2,2,564961396,'wanted',0,1,NULL,NULL,0);
INSERT INTO "slots" VALUES(3,3,3,1086038744,'wanted',1,1,'tDaDl7loaxOP60m_RyH1Dw','XuZ8eLMOgZ3WB7CBSZDXfg',1800001800000);
INSERT INTO "slots" VALUES(4,4,4,1549524128,'wanted',0,1,NULL,NULL,0);
CREATE TABLE submissions (
	id INTEGER NOT NULL, 
	lease VARCHAR NOT NULL, 
	slot INTEGER, 
	unit INTEGER NOT NULL, 
	rater VARCHAR NOT NULL, 
	session VARCHAR NOT NULL, 
	"key" VARCHAR NOT NULL, 
	answer TEXT NOT NULL, 
	scores TEXT NOT NULL, 
	active_ms BIGINT NOT NULL, 
	swapped BOOLEAN NOT NULL, 
	started BIGINT NOT NULL, 
	time BIGINT NOT NULL, 
	CONSTRAINT submissions_key PRIMARY KEY (id), 
	CONSTRAINT submissions_lease_leases FOREIGN KEY(lease) REFERENCES leases (id), 
	CONSTRAINT submissions_rater_raters FOREIGN KEY(rater) REFERENCES raters (id), 
	CONSTRAINT submissions_session_sessions FOREIGN KEY(session) REFERENCES sessions (id), 
	CONSTRAINT submissions_slot_slots FOREIGN KEY(slot) REFERENCES slots (id), 
	CONSTRAINT submissions_unit_units FOREIGN KEY(unit) REFERENCES units (id), 
	CONSTRAINT submissions_lease UNIQUE (lease)
);
INSERT INTO "submissions" VALUES(1,'tDaDl7loaxOP60m_RyH1Dw',3,3,'XuZ8eLMOgZ3WB7CBSZDXfg','mKqfIeY0UhQXWpAXgbUamw','key-00000000','{"q": 40}','{"q": 40.0}',0,0,1800000000000,1800000000000);
INSERT INTO "submissions" VALUES(2,'idWoAJg_Dl6tjFU87zXoUw',1,1,'XuZ8eLMOgZ3WB7CBSZDXfg','mKqfIeY0UhQXWpAXgbUamw','key-00000001','{"q": 41}','{"q": 41.0}',0,0,1800000000000,1800000000000);
CREATE TABLE targets (
	item VARCHAR NOT NULL, 
	system VARCHAR NOT NULL, 
	unit INTEGER NOT NULL, 
	side INTEGER NOT NULL, 
	probability FLOAT, 
	stratum VARCHAR, 
	stratum_size INTEGER, 
	share FLOAT, 
	draw INTEGER NOT NULL, 
	design VARCHAR, 
	seed BIGINT, 
	signature VARCHAR, 
	CONSTRAINT targets_key PRIMARY KEY (item, system), 
	CONSTRAINT targets_unit_units FOREIGN KEY(unit) REFERENCES units (id)
);
INSERT INTO "targets" VALUES('i3','a',1,1,6.66666666666666629659e-01,NULL,6,1.0,1,'simple',1,'simple|n=4|N=6|seed=1|steelyard=0.1.0');
INSERT INTO "targets" VALUES('i2','a',2,1,6.66666666666666629659e-01,NULL,6,1.0,2,'simple',1,'simple|n=4|N=6|seed=1|steelyard=0.1.0');
INSERT INTO "targets" VALUES('i5','a',3,1,6.66666666666666629659e-01,NULL,6,1.0,3,'simple',1,'simple|n=4|N=6|seed=1|steelyard=0.1.0');
INSERT INTO "targets" VALUES('i1','a',4,1,6.66666666666666629659e-01,NULL,6,1.0,4,'simple',1,'simple|n=4|N=6|seed=1|steelyard=0.1.0');
CREATE TABLE tutorial_answers (
	id INTEGER NOT NULL, 
	rater VARCHAR NOT NULL, 
	version VARCHAR NOT NULL, 
	question VARCHAR NOT NULL, 
	attempt INTEGER NOT NULL, 
	answer TEXT NOT NULL, 
	correct BOOLEAN NOT NULL, 
	time BIGINT NOT NULL, 
	CONSTRAINT tutorial_answers_key PRIMARY KEY (id), 
	CONSTRAINT tutorial_answers_rater_raters FOREIGN KEY(rater) REFERENCES raters (id)
);
CREATE TABLE tutorials (
	rater VARCHAR NOT NULL, 
	version VARCHAR NOT NULL, 
	started BIGINT NOT NULL, 
	passed BOOLEAN, 
	finished BIGINT, 
	CONSTRAINT tutorials_key PRIMARY KEY (rater, version), 
	CONSTRAINT tutorials_rater_raters FOREIGN KEY(rater) REFERENCES raters (id)
);
CREATE TABLE units (
	id INTEGER NOT NULL, 
	digest VARCHAR NOT NULL, 
	item VARCHAR NOT NULL, 
	content TEXT NOT NULL, 
	pair BOOLEAN NOT NULL, 
	wanted INTEGER NOT NULL, 
	gold TEXT, 
	CONSTRAINT units_key PRIMARY KEY (id), 
	CONSTRAINT units_digest UNIQUE (digest)
);
INSERT INTO "units" VALUES(1,'f20ed39e35c4c348f13002b717230ce5346bc4e33857d260ec7ce575e7128367','i3','{"output": "Text 3."}',0,1,NULL);
INSERT INTO "units" VALUES(2,'04c30056bf336ae7336097198f6ab671b5692f5bb4f6695e9c0ac3397e160682','i2','{"output": "Text 2."}',0,1,NULL);
INSERT INTO "units" VALUES(3,'41710f095e4dc551bff3a8790641a9c3b9ca72bccc8fba7ffddc9ee7cfb3e4eb','i5','{"output": "Text 5."}',0,1,NULL);
INSERT INTO "units" VALUES(4,'48c8a626b978c080c9b3f7472c856d3520c438dd5d6189727964b1c47e439bea','i1','{"output": "Text 1."}',0,1,NULL);
CREATE INDEX units_gold ON units (id) WHERE gold IS NOT NULL;
CREATE INDEX targets_unit ON targets (unit);
CREATE UNIQUE INDEX raters_panel_external_id ON raters (panel, external_id);
CREATE UNIQUE INDEX sessions_rater_panel_session ON sessions (rater, panel_session);
CREATE UNIQUE INDEX slots_held ON slots (rater) WHERE NOT done AND rater IS NOT NULL;
CREATE INDEX slots_open ON slots (position, id) WHERE NOT done AND offered;
CREATE INDEX slots_unit ON slots (unit);
CREATE UNIQUE INDEX leases_rater_unit ON leases (rater, unit);
CREATE INDEX submissions_rater ON submissions (rater);
CREATE UNIQUE INDEX submissions_unit_rater ON submissions (unit, rater);
CREATE UNIQUE INDEX ledger_bonus_once ON ledger (rater, reference) WHERE kind = 'bonus';
CREATE INDEX ledger_rater_amount ON ledger (rater, amount);
CREATE INDEX decisions_rater_about ON decisions (rater, about, id);
CREATE UNIQUE INDEX tutorial_answers_once ON tutorial_answers (rater, version, question, attempt);
COMMIT;
