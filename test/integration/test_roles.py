"""A token of each role on each route gives what SPEC 10.4 says: its own table here, not the server's."""
import re
import unittest

from base import ClusterTest

ROLES = ["admin", "operator", "tenant", "read-only", "agent-join"]


def allowed(role, method, path):
    """admin everything; operator nodes, queues, quotas, any job; tenant its own jobs and quota, cluster totals; read-only GET; agent-join the join."""
    if role == "admin":
        return True
    if "/agent" in path:
        return role == "agent-join"
    if role == "agent-join":
        return False
    if "/tokens" in path:
        return False
    if role == "read-only":
        return method == "GET"
    if role == "operator":
        return not (method == "PUT" and "/tenants/" in path)
    # tenant: jobs, tasks, plans, documents, cluster totals, events, its quota and tenant, queues to choose from
    if re.search(r"/nodes", path) or path.endswith(("/tenants", "/holdings", "/plugins", "/defrag", "/plans/drain", "/plans/node_loss", "/plans/quota")):
        return False
    if method == "PUT" or path.endswith("/quota") or path.endswith("/evict"):
        return False
    return True


class Roles(ClusterTest):
    simulated = 1

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.tokens = {"admin": cls.api.token}
        for role in ROLES[1:]:
            wanted = {"name": role, "role": role}
            if role == "tenant":
                wanted["tenant"] = "research/vision"
            cls.tokens[role] = cls.api.post("/api/v1/tokens", wanted)["secret"]
        cls.own = cls.api.post("/api/v1/jobs", {"command": ["true"], "tenant": "research/vision", "duration": "1h"})["job"]["id"]
        cls.other = cls.api.post("/api/v1/jobs", {"command": ["true"], "tenant": "finance", "duration": "1h"})["job"]["id"]

    def routes(self):
        for path, methods in self.api.get("/openapi.json")["paths"].items():
            for method in methods:
                if path.startswith(("/api/", "/alldata/")):
                    yield method.upper(), path

    def test_each_role_on_each_route(self):
        seen = 0
        for method, path in self.routes():
            concrete = path.replace("{id}", self.own).replace("{task_id}", self.own).replace("{name}", "sim-01")
            concrete = re.sub(r"\{(path|tenant)\*?\}", "research/vision", concrete)
            if path == "/api/v1/events" or method == "DELETE" or path.endswith(("/cancel", "/evict", "/release", "/resume", "/drain")):
                body = {"nonsense": 1}  # refused with 400 after the permission check: nothing is changed
            else:
                body = {"nonsense": 1} if method != "GET" else None
            for role in ROLES:
                if path == "/api/v1/events" and allowed(role, method, path):
                    continue  # an open stream
                with self.subTest(f"{role} {method} {path}"):
                    status, _, data = self.api.raw(method, concrete, body, token=self.tokens[role])
                    if allowed(role, method, path):
                        self.assertNotIn(status, (401, 403), data[:200])
                    else:
                        self.assertEqual(status, 403, data[:200])
                    seen += 1
        self.assertGreater(seen, 150)

    def test_a_tenant_sees_its_own_jobs_only(self):
        api = type(self.api)(self.scheduler.url, self.tokens["tenant"])
        self.assertEqual({job["id"] for job in api.jobs()}, {self.own})
        self.assertEqual(api.raw("GET", f"/api/v1/jobs/{self.other}")[0], 404)
        self.assertEqual(api.raw("POST", f"/api/v1/jobs/{self.other}/cancel", {})[0], 404)
        self.assertEqual(api.raw("GET", "/api/v1/quotas/finance")[0], 403)
        self.assertEqual(api.raw("POST", "/api/v1/jobs", {"command": ["true"], "tenant": "finance"})[0], 403)
        status, _, data = api.raw("POST", "/api/v1/jobs", {"command": ["true"], "priority": "critical"})
        self.assertEqual(status, 400)
        self.assertIn(b"priority", data)

    def test_no_token_and_a_wrong_one_are_unauthenticated(self):
        for token in ("", "wrong"):
            status, _, _ = type(self.api)(self.scheduler.url, token).raw("GET", "/api/v1/jobs")
            self.assertEqual(status, 401)

    def test_a_revoked_token_ends_at_once(self):
        made = self.api.post("/api/v1/tokens", {"name": "short", "role": "read-only"})
        self.assertEqual(self.api.raw("GET", "/api/v1/jobs", token=made["secret"])[0], 200)
        self.api.call("DELETE", f"/api/v1/tokens/{made['id']}")
        self.assertEqual(self.api.raw("GET", "/api/v1/jobs", token=made["secret"])[0], 401)

    def test_tokens_are_stored_hashed(self):
        with open(f"{self.scheduler.data}/crater.db", "rb") as file:
            stored = file.read()
        for suffix in ("-wal",):
            try:
                with open(f"{self.scheduler.data}/crater.db{suffix}", "rb") as file:
                    stored += file.read()
            except OSError:
                pass
        for secret in self.tokens.values():
            self.assertNotIn(secret.encode(), stored)


if __name__ == "__main__":
    unittest.main()
