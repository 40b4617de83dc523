import java.io.File;
import java.util.TreeMap;
import javax.xml.parsers.SAXParserFactory;
import org.xml.sax.Attributes;
import org.xml.sax.helpers.DefaultHandler;

/** Reads a file as strictly as Java can and counts its cases and their results. */
public final class CountCases {
    public static void main(String[] files) throws Exception {
        var counts = new TreeMap<String, Integer>();
        for (var name : new String[] {"testcase", "failure", "error", "skipped"}) {
            counts.put(name, 0);
        }
        var factory = SAXParserFactory.newInstance();
        factory.setFeature("http://apache.org/xml/features/disallow-doctype-decl", true);
        factory.newSAXParser().parse(new File(files[0]), new DefaultHandler() {
            @Override
            public void startElement(String uri, String local, String name, Attributes attributes) {
                counts.computeIfPresent(name, (key, n) -> n + 1);
            }
        });
        var json = new StringBuilder();
        counts.forEach((name, n) -> json.append(json.length() == 0 ? "{" : ", ").append('"' + name + "\": " + n));
        System.out.println(json.append('}'));
    }
}
